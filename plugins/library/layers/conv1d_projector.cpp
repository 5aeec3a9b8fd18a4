#include "layers/conv1d_projector.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/conv.h>

#include <algorithm>

#include "layers/module_targets.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

class Conv1dProjectorRuntime final : public nexuml::PipelineLayer {
 public:
  Conv1dProjectorRuntime(const nexuml::LayerBuildContext& context, const Conv1dProjector& definition)
      : PipelineLayer(context), model_(register_module("model", std::make_shared<TensorSequence>())) {
    std::int64_t width = last_size(context);
    const std::int64_t layers = std::max<std::int64_t>(definition.n_layers, 1);
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::int64_t next = i + 1 == layers ? definition.target_dim : definition.hidden_dim;
      model_->push_back(torch::nn::Conv1d(torch::nn::Conv1dOptions(width, next, 1).bias(definition.bias)));
      width = next;
      if (definition.normalization)
        model_->push_back(build_module(context, *definition.normalization, nexuml::Value::list({width})));
      if (definition.activation) model_->push_back(build_module(context, *definition.activation));
    }
  }

  // [batch, tokens, features] -> [batch, tokens, target_dim]
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return model_->forward(input.transpose(1, 2)).transpose(1, 2);
  }

 private:
  std::shared_ptr<TensorSequence> model_;
};

}  // namespace

void Conv1dProjector::describe(nexuml::Schema<Conv1dProjector>& s) {
  s.summary(
      "Pointwise convolutions over the features of tokens, each with optional normalisation and activation.");
  s.field("target_dim", &Conv1dProjector::target_dim).doc("Width of the output.").required().at_least(1);
  s.field("hidden_dim", &Conv1dProjector::hidden_dim)
      .doc("Width of every layer before the last.")
      .at_least(1);
  s.field("n_layers", &Conv1dProjector::n_layers).doc("Convolutions; 0 counts as 1.").at_least(0);
  s.field("bias", &Conv1dProjector::bias).doc("Whether the convolutions have a bias.");
  s.field("activation", &Conv1dProjector::activation)
      .doc("Module built after each layer; null for none.")
      .target(nexuml::TargetKind::module);
  s.field("normalization", &Conv1dProjector::normalization)
      .doc("Module built after each convolution with its width as the argument; null for none.")
      .target(nexuml::TargetKind::module);
}

nexuml::Shapes Conv1dProjector::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  nexuml::TensorSpec spec = context.input();
  if (spec.shape.size() != 2)
    context.fail("tokens [tokens, features] are needed, found " + nexuml::to_string(spec.shape));
  (void)last_size(context);
  spec.shape.back() = target_dim;
  return context.single_output(spec);
}

std::shared_ptr<nexuml::PipelineLayer> Conv1dProjector::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<Conv1dProjectorRuntime>(context, *this);
}

}  // namespace nexuml_library
