#include "layers/token_pool.h"

#include <nexuml/layer.h>

#include <string>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class TokenPoolRuntime final : public nexuml::PipelineLayer {
 public:
  TokenPoolRuntime(const nexuml::LayerBuildContext& context, const TokenPool& definition)
      : PipelineLayer(context), definition_(definition) {}

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    const std::int64_t dim = definition_.dim;
    const bool keep = !definition_.remove_dim;
    if (definition_.pooling_type == TokenPooling::cls) return input.select(dim, 0);
    if (definition_.pooling_type == TokenPooling::multilayer) return pooled_layers(input);
    const at::Tensor tokens = definition_.skip_first ? input.narrow(dim, 1, input.size(dim) - 1) : input;
    switch (definition_.pooling_type) {
      case TokenPooling::max:
        return tokens.amax(dim, keep);
      case TokenPooling::std:
        return tokens.std(dim, true, keep);
      case TokenPooling::mean_std:
        return mean_and_deviation(tokens, dim, keep);
      default:
        return tokens.mean(dim, keep);
    }
  }

 private:
  static at::Tensor mean_and_deviation(const at::Tensor& tokens, std::int64_t dim, bool keep) {
    const at::Tensor both = at::cat({tokens.mean(dim, true), tokens.std(dim, true, true)}, -1);
    const bool last = dim == -1 || dim == tokens.dim() - 1;
    return keep || last ? both : both.squeeze(dim);
  }

  // [batch, layers, tokens, features] -> [batch, 2 * layers * features], layer by layer; without a token
  // dimension [batch, layers, features] -> [batch, layers * features].
  at::Tensor pooled_layers(const at::Tensor& input) const {
    const at::Tensor layers = input.movedim(definition_.dim, 1);
    if (layers.dim() == 3) return layers.flatten(1);
    return at::cat({layers.mean(2), layers.std(2, true, false)}, -1).flatten(1);
  }

  const TokenPool definition_;
};

nexuml::Shape pooled_layers_shape(const nexuml::LayerInferContext& context, std::size_t dim) {
  const nexuml::Shape& shape = context.input().shape;
  if (shape.size() < 2 || shape.size() > 3)
    context.fail("multilayer pools [layers, features] or [layers, tokens, features], found " +
                 nexuml::to_string(shape));
  if (dim + 1 == shape.size())
    context.fail("dim names the features; multilayer needs the dimension of the layers");
  const std::int64_t layers = shape[dim], features = shape.back();
  if (layers == nexuml::unknown_size || features == nexuml::unknown_size) return {nexuml::unknown_size};
  return {layers * features * (shape.size() == 3 ? 2 : 1)};
}

}  // namespace

void TokenPool::describe(nexuml::Schema<TokenPool>& s) {
  s.summary("Tokens to one vector.");
  s.field("dim", &TokenPool::dim).doc("The dimension that is pooled, the batch being dimension 0.");
  s.field("pooling_type", &TokenPool::pooling_type).doc("How tokens become one vector.");
  s.field("remove_dim", &TokenPool::remove_dim)
      .doc(
          "Whether the pooled dimension disappears; else it has size 1. Always removed by cls and "
          "multilayer.");
  s.field("skip_first", &TokenPool::skip_first)
      .doc("Whether the first token is left out. Means nothing to cls and multilayer.");
}

nexuml::Shapes TokenPool::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  nexuml::TensorSpec spec = context.input();
  const std::size_t index = sample_dimension(context, dim, spec.shape.size());
  if (pooling_type == TokenPooling::multilayer) {
    spec.shape = pooled_layers_shape(context, index);
    return context.single_output(spec);
  }
  const bool skips = skip_first && pooling_type != TokenPooling::cls;
  if (spec.shape[index] != nexuml::unknown_size && spec.shape[index] - (skips ? 1 : 0) < 1)
    context.fail("there is no token to pool: dimension " + std::to_string(dim) + " has size " +
                 std::to_string(spec.shape[index]));
  const bool last = index + 1 == spec.shape.size();
  const bool doubled = pooling_type == TokenPooling::mean_std;
  if (remove_dim || pooling_type == TokenPooling::cls)
    spec.shape.erase(spec.shape.begin() + static_cast<std::ptrdiff_t>(index));
  else
    spec.shape[index] = 1;
  if (doubled && last && remove_dim)
    spec.shape.push_back(2);
  else if (doubled && spec.shape.back() != nexuml::unknown_size)
    spec.shape.back() *= 2;
  return context.single_output(spec);
}

std::shared_ptr<nexuml::PipelineLayer> TokenPool::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<TokenPoolRuntime>(context, *this);
}

}  // namespace nexuml_library
