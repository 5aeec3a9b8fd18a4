#include "layers/l2_normalize.h"

#include <nexuml/layer.h>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class L2NormalizeRuntime final : public nexuml::PipelineLayer {
 public:
  L2NormalizeRuntime(const nexuml::LayerBuildContext& context, double eps)
      : PipelineLayer(context), eps_(eps) {}

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return input / input.norm(2, {-1}, true).clamp_min(eps_);
  }

 private:
  double eps_;
};

}  // namespace

void L2Normalize::describe(nexuml::Schema<L2Normalize>& s) {
  s.summary("Scales the last dimension to length one.");
  s.field("eps", &L2Normalize::eps)
      .doc("Smallest length that is divided by; a zero row stays zero.")
      .at_least(0);
}

nexuml::Shapes L2Normalize::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, context.keys_in.size(), context.keys_in.size());
  nexuml::Shapes shapes;
  for (std::size_t i = 0; i < context.keys_in.size(); ++i) {
    if (context.input(i).shape.empty())
      context.fail("a feature dimension is needed, found one number per sample");
    shapes.outputs[context.output_key(i)] = context.input(i);
  }
  return shapes;
}

std::shared_ptr<nexuml::PipelineLayer> L2Normalize::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<L2NormalizeRuntime>(context, eps);
}

}  // namespace nexuml_library
