// LatentClassificationHead and LatentRegressionHead: a small MLP from a latent to logits or predictions.
//
//     LayerSpec{.component = LatentClassificationHead{.hidden_dims = {{32}}}, .keys_in = {"latent"},
//               .keys_out = {"logits"}, .label_key = "class"};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace nexuml_library {

// The number of classes comes from the data; 10 where the data does not say.
// Shape: [batch, ...] -> [batch, num_classes]; num_classes comes from the data, else 10
// Formula: W_n relu(... relu(W_1 x + b_1) ...) + b_n
struct LatentClassificationHead {
  std::optional<std::vector<std::int64_t>> hidden_dims = std::nullopt;

  static void describe(nexuml::Schema<LatentClassificationHead>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

// Shape: [batch, ...] -> [batch, num_outputs]
// Formula: W_n relu(... relu(W_1 x + b_1) ...) + b_n
struct LatentRegressionHead {
  std::int64_t num_outputs = 1;
  std::optional<std::vector<std::int64_t>> hidden_dims = std::nullopt;

  static void describe(nexuml::Schema<LatentRegressionHead>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
