#include "layers/logits_to_class.h"

#include <nexuml/layer.h>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class LogitsToClassRuntime final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return input.argmax(-1).to(at::kFloat);
  }
};

}  // namespace

void LogitsToClass::describe(nexuml::Schema<LogitsToClass>& s) {
  s.summary("The index of the largest logit, as float32.");
}

nexuml::Shapes LogitsToClass::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  nexuml::Shape shape = context.input().shape;
  if (shape.empty()) context.fail("logits need a class dimension, found one number per sample");
  shape.pop_back();
  return context.single_output({.shape = shape, .dtype = nexuml::DType::float32});
}

std::shared_ptr<nexuml::PipelineLayer> LogitsToClass::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LogitsToClassRuntime>(context);
}

}  // namespace nexuml_library
