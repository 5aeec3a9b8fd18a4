#include "layers/linear_encoder.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include "layers/module_targets.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

class LinearEncoderRuntime final : public nexuml::PipelineLayer {
 public:
  LinearEncoderRuntime(const nexuml::LayerBuildContext& context, const LinearEncoder& definition)
      : PipelineLayer(context), model_(register_module("model", std::make_shared<TensorSequence>())) {
    std::vector<std::int64_t> widths = definition.hidden_dims.value_or(std::vector<std::int64_t>{});
    widths.push_back(definition.output_dim);
    std::int64_t width = feature_count(context);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      model_->push_back(torch::nn::Linear(torch::nn::LinearOptions(width, widths[i]).bias(definition.bias)));
      width = widths[i];
      if (i + 1 == widths.size() && !definition.last_activation) break;
      model_->push_back(torch::nn::BatchNorm1d(width));
      model_->push_back(build_module(context, definition.activation));
    }
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return model_->forward(input.reshape({input.size(0), -1}));
  }

 private:
  std::shared_ptr<TensorSequence> model_;
};

}  // namespace

void LinearEncoder::describe(nexuml::Schema<LinearEncoder>& s) {
  s.summary("Flattened features through linear layers, batch normalisation and activation between them.");
  s.field("hidden_dims", &LinearEncoder::hidden_dims)
      .doc("Widths of the layers before the last; null for none.")
      .at_least(1);
  s.field("output_dim", &LinearEncoder::output_dim).doc("Width of the output.").at_least(1);
  s.field("activation", &LinearEncoder::activation)
      .doc("Module built after each batch normalisation.")
      .target(nexuml::TargetKind::module);
  s.field("last_activation", &LinearEncoder::last_activation)
      .doc("Whether batch normalisation and activation follow the last layer too.");
  s.field("bias", &LinearEncoder::bias).doc("Whether the linear layers have a bias.");
}

nexuml::Shapes LinearEncoder::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  nexuml::Shapes shapes = context.single_output({.shape = {output_dim}, .dtype = context.input().dtype});
  shapes.attributes["input_dim"] = feature_count(context);
  return shapes;
}

std::shared_ptr<nexuml::PipelineLayer> LinearEncoder::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LinearEncoderRuntime>(context, *this);
}

}  // namespace nexuml_library
