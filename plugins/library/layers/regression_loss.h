// RegressionLoss: mean squared error between predictions and labels.
//
//     LayerSpec{.component = RegressionLoss{}, .keys_in = {"prediction"}, .keys_out = {"loss"},
//               .label_key = "target"};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: predictions and labels [batch, ...] -> [batch], the batch mean repeated; zeros without labels
// Formula: mean((x - y)^2)
struct RegressionLoss {
  static void describe(nexuml::Schema<RegressionLoss>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
