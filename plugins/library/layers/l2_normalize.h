// L2Normalize: scales the last dimension to length one.
//
//     LayerSpec{.component = L2Normalize{}, .keys_in = {"latent"}, .keys_out = {"direction"}};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: unchanged
// Formula: x / max(|x|, eps)
struct L2Normalize {
  double eps = 1e-12;

  static void describe(nexuml::Schema<L2Normalize>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
