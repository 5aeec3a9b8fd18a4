#include "layers/attention_pool.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/activation.h>

#include <string>
#include <tuple>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class AttentionPoolRuntime final : public nexuml::PipelineLayer {
 public:
  AttentionPoolRuntime(const nexuml::LayerBuildContext& context, const AttentionPool& definition)
      : PipelineLayer(context),
        remove_dim_(definition.remove_dim),
        query_(register_parameter("q", at::zeros({1, 1, last_size(context)}))),
        attention_(
            register_module("attention", torch::nn::MultiheadAttention(torch::nn::MultiheadAttentionOptions(
                                             last_size(context), definition.n_heads)))) {}

  // [batch, tokens, features] -> [batch, features] or [batch, 1, features]
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    // LibTorch's attention takes [tokens, batch, features].
    const at::Tensor tokens = input.transpose(0, 1);
    const at::Tensor query = query_.expand({1, input.size(0), input.size(2)});
    const at::Tensor pooled =
        std::get<0>(attention_->forward(query, tokens, tokens, {}, /*need_weights=*/false));
    return remove_dim_ ? pooled.squeeze(0) : pooled.transpose(0, 1);
  }

 private:
  bool remove_dim_;
  at::Tensor query_;
  torch::nn::MultiheadAttention attention_;
};

}  // namespace

void AttentionPool::describe(nexuml::Schema<AttentionPool>& s) {
  s.summary("Tokens to one vector by multi-head attention with one learned query, which starts at zero.");
  s.field("dim", &AttentionPool::dim).doc("The dimension of the tokens, the batch being dimension 0.");
  s.field("remove_dim", &AttentionPool::remove_dim)
      .doc("Whether the pooled dimension disappears; else it has size 1.");
  s.field("n_heads", &AttentionPool::n_heads)
      .doc("Attention heads; the number of features is a multiple of it.")
      .at_least(1);
}

nexuml::Shapes AttentionPool::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  const std::int64_t features = token_features(context, dim);
  if (features % n_heads != 0)
    context.fail(std::to_string(features) + " features cannot be divided among " + std::to_string(n_heads) +
                 " heads");
  return context.single_output({.shape = remove_dim ? nexuml::Shape{features} : nexuml::Shape{1, features},
                                .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> AttentionPool::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<AttentionPoolRuntime>(context, *this);
}

}  // namespace nexuml_library
