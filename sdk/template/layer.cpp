#include "@FILE@.h"

#include <nexuml/layer.h>

namespace @NAMESPACE@ {

namespace {

class @TYPE@Runtime final : public nexuml::PipelineLayer {
 public:
  @TYPE@Runtime(const nexuml::LayerBuildContext& context, double scale) : PipelineLayer(context) {
    scale_ = register_parameter("scale", torch::full({1}, scale));
  }
  // [batch, ...] -> [batch, ...]
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return input * scale_; }

 private:
  at::Tensor scale_;  // [1]
};

}  // namespace

void @TYPE@::describe(nexuml::Schema<@TYPE@>& s) {
  s.summary("Multiplies by a learned factor.");
  s.field("scale", &@TYPE@::scale).doc("The factor at the start.");
}

nexuml::Shapes @TYPE@::infer(const nexuml::LayerInferContext& context) const {
  return context.single_output(context.input());
}

std::shared_ptr<nexuml::PipelineLayer> @TYPE@::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<@TYPE@Runtime>(context, scale);
}

}  // namespace @NAMESPACE@
