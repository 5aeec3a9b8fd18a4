#include "layers/latent_head.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>

#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

constexpr std::int64_t default_num_classes = 10;

class LatentHeadRuntime final : public nexuml::PipelineLayer {
 public:
  LatentHeadRuntime(const nexuml::LayerBuildContext& context,
                    const std::optional<std::vector<std::int64_t>>& hidden_dims, std::int64_t outputs)
      : PipelineLayer(context), head_(register_module("head", std::make_shared<TensorSequence>())) {
    std::int64_t width = feature_count(context);
    for (const std::int64_t hidden : hidden_dims.value_or(std::vector<std::int64_t>{})) {
      head_->push_back(torch::nn::Linear(width, hidden));
      head_->push_back(torch::nn::ReLU());
      width = hidden;
    }
    head_->push_back(torch::nn::Linear(width, outputs));
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return head_->forward(input.reshape({input.size(0), -1}));
  }

 private:
  std::shared_ptr<TensorSequence> head_;
};

std::int64_t head_classes(const nexuml::LayerInferContext& context) {
  return context.num_classes.value_or(default_num_classes);
}

nexuml::Shapes head_shapes(const nexuml::LayerInferContext& context, std::int64_t outputs) {
  check_key_counts(context, 1, 1);
  (void)feature_count(context);
  return context.single_output({.shape = {outputs}, .dtype = context.input().dtype});
}

}  // namespace

void LatentClassificationHead::describe(nexuml::Schema<LatentClassificationHead>& s) {
  s.summary("Logits from a latent: linear layers with ReLU between them.");
  s.field("hidden_dims", &LatentClassificationHead::hidden_dims)
      .doc("Widths of the hidden layers; null for a single linear layer.")
      .at_least(1);
}

nexuml::Shapes LatentClassificationHead::infer(const nexuml::LayerInferContext& context) const {
  return head_shapes(context, head_classes(context));
}

std::shared_ptr<nexuml::PipelineLayer> LatentClassificationHead::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LatentHeadRuntime>(context, hidden_dims, head_classes(context));
}

void LatentRegressionHead::describe(nexuml::Schema<LatentRegressionHead>& s) {
  s.summary("Predictions from a latent: linear layers with ReLU between them.");
  s.field("num_outputs", &LatentRegressionHead::num_outputs).doc("Predicted values per sample.").at_least(1);
  s.field("hidden_dims", &LatentRegressionHead::hidden_dims)
      .doc("Widths of the hidden layers; null for a single linear layer.")
      .at_least(1);
}

nexuml::Shapes LatentRegressionHead::infer(const nexuml::LayerInferContext& context) const {
  return head_shapes(context, num_outputs);
}

std::shared_ptr<nexuml::PipelineLayer> LatentRegressionHead::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LatentHeadRuntime>(context, hidden_dims, num_outputs);
}

}  // namespace nexuml_library
