// LogitsToClass: the index of the largest logit.
//
//     LayerSpec{.component = LogitsToClass{}, .keys_in = {"logits"}, .keys_out = {"predicted"}};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: [batch, ..., classes] -> [batch, ...]
// Formula: argmax over the last dimension; the first of equal ones
struct LogitsToClass {
  static void describe(nexuml::Schema<LogitsToClass>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
