// Conv1dProjector: pointwise convolutions over the features of tokens.
//
//     LayerSpec{.component = Conv1dProjector{.target_dim = 64}, .keys_in = {"tokens"}, .keys_out =
//     {"projected"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: [batch, tokens, features] -> [batch, tokens, target_dim]
// Formula: per layer act(norm(W x_t + b)), normalisation over [batch, features, tokens]
struct Conv1dProjector {
  std::int64_t target_dim = 0;
  std::int64_t hidden_dim = 256;
  std::int64_t n_layers = 1;
  bool bias = true;
  std::optional<std::string> activation = std::nullopt;
  std::optional<std::string> normalization = std::nullopt;

  static void describe(nexuml::Schema<Conv1dProjector>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
