// LinearEncoder: flattened features through linear layers with batch normalisation between them.
//
//     LayerSpec{.component = LinearEncoder{.hidden_dims = {{32, 16}}, .output_dim = 8},
//               .keys_in = {"features"}, .keys_out = {"latent"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

// Shape: [batch, ...] -> [batch, output_dim]
// Formula: per layer act(BN(W x + b)); the last layer only W x + b unless last_activation
struct LinearEncoder {
  std::optional<std::vector<std::int64_t>> hidden_dims = std::nullopt;
  std::int64_t output_dim = 8;
  std::string activation = "torch.nn.ReLU";
  bool last_activation = false;
  bool bias = true;

  static void describe(nexuml::Schema<LinearEncoder>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
