// MergeLayer: several inputs concatenated.
//
//     LayerSpec{.component = MergeLayer{.dim = -1}, .keys_in = {"audio", "text"}, .keys_out = {"joint"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace nexuml_library {

// Shape: inputs that agree outside of dim -> the same with the sizes of dim added
// Formula: cat(x_1, ..., x_n)
struct MergeLayer {
  std::int64_t dim = -2;

  static void describe(nexuml::Schema<MergeLayer>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
