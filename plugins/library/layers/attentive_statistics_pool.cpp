#include "layers/attentive_statistics_pool.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/linear.h>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

constexpr double variance_guard = 1e-9;

class AttentiveStatisticsPoolRuntime final : public nexuml::PipelineLayer {
 public:
  AttentiveStatisticsPoolRuntime(const nexuml::LayerBuildContext& context,
                                 const AttentiveStatisticsPool& definition)
      : PipelineLayer(context),
        remove_dim_(definition.remove_dim),
        hidden_(register_module("lin", torch::nn::Linear(last_size(context), definition.hidden_dim))),
        score_(register_module("v", torch::nn::Linear(definition.hidden_dim, 1))),
        projection_(
            register_module("projection", torch::nn::Linear(2 * last_size(context), last_size(context)))) {}

  // [batch, tokens, features] -> [batch, features] or [batch, 1, features]
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    const at::Tensor weights =
        score_->forward(hidden_->forward(input).tanh_()).softmax(1);  // [batch, tokens, 1]
    const at::Tensor mean = (weights * input).sum(1, true);
    const at::Tensor variance = (weights * (input - mean).square()).sum(1, true);
    const at::Tensor pooled = projection_->forward(at::cat({mean, (variance + variance_guard).sqrt()}, -1));
    return remove_dim_ ? pooled.squeeze(1) : pooled;
  }

 private:
  bool remove_dim_;
  torch::nn::Linear hidden_, score_, projection_;
};

}  // namespace

void AttentiveStatisticsPool::describe(nexuml::Schema<AttentiveStatisticsPool>& s) {
  s.summary("The weighted mean and deviation of tokens, the weights being learned.");
  s.field("dim", &AttentiveStatisticsPool::dim)
      .doc("The dimension of the tokens, the batch being dimension 0.");
  s.field("remove_dim", &AttentiveStatisticsPool::remove_dim)
      .doc("Whether the pooled dimension disappears; else it has size 1.");
  s.field("hidden_dim", &AttentiveStatisticsPool::hidden_dim)
      .doc("Width of the layer that scores tokens.")
      .at_least(1);
}

nexuml::Shapes AttentiveStatisticsPool::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  const std::int64_t features = token_features(context, dim);
  return context.single_output({.shape = remove_dim ? nexuml::Shape{features} : nexuml::Shape{1, features},
                                .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> AttentiveStatisticsPool::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<AttentiveStatisticsPoolRuntime>(context, *this);
}

}  // namespace nexuml_library
