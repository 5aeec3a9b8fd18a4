// Linear: linear layers over the last dimension, with optional normalisation and activation.
//
//     LayerSpec{.component = Linear{.target_dim = 64, .n_layers = 2, .activation = "torch.nn.GELU"},
//               .keys_in = {"tokens"}, .keys_out = {"embedding"}};
#pragma once

#include <nexuml/definition.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

// Shape: [batch, ..., features] -> [batch, ..., target_dim]
// Formula: per layer act(norm(W x + b))
struct Linear {
  std::int64_t target_dim = 0;
  std::int64_t hidden_dim = 256;
  std::optional<std::vector<std::int64_t>> hidden_dims = std::nullopt;
  std::int64_t n_layers = 1;
  bool linear_bias = true;
  std::optional<std::string> activation = std::nullopt;
  std::optional<std::string> normalization = std::nullopt;
  bool skip_last_activation = false;
  std::optional<std::array<std::int64_t, 2>> flatten_dims = std::nullopt;

  static void describe(nexuml::Schema<Linear>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
