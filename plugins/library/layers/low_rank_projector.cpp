#include "layers/low_rank_projector.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/linear.h>

#include "layers/module_targets.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

class LowRankProjectorRuntime final : public nexuml::PipelineLayer {
 public:
  LowRankProjectorRuntime(const nexuml::LayerBuildContext& context, const LowRankProjector& definition)
      : PipelineLayer(context), model_(register_module("model", std::make_shared<TensorSequence>())) {
    model_->push_back(
        torch::nn::Linear(torch::nn::LinearOptions(last_size(context), definition.rank).bias(false)));
    if (definition.activation) model_->push_back(build_module(context, *definition.activation));
    model_->push_back(torch::nn::Linear(
        torch::nn::LinearOptions(definition.rank, definition.target_dim).bias(definition.bias)));
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return model_->forward(input);
  }

 private:
  std::shared_ptr<TensorSequence> model_;
};

}  // namespace

void LowRankProjector::describe(nexuml::Schema<LowRankProjector>& s) {
  s.summary("A linear map through a narrow middle.");
  s.field("target_dim", &LowRankProjector::target_dim).doc("Width of the output.").required().at_least(1);
  s.field("rank", &LowRankProjector::rank).doc("Width of the middle.").at_least(1);
  s.field("bias", &LowRankProjector::bias).doc("Whether the second map has a bias; the first has none.");
  s.field("activation", &LowRankProjector::activation)
      .doc("Module built between the two maps; null for none.")
      .target(nexuml::TargetKind::module);
}

nexuml::Shapes LowRankProjector::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  (void)last_size(context);
  nexuml::TensorSpec spec = context.input();
  spec.shape.back() = target_dim;
  return context.single_output(spec);
}

std::shared_ptr<nexuml::PipelineLayer> LowRankProjector::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LowRankProjectorRuntime>(context, *this);
}

}  // namespace nexuml_library
