// TokenPool: tokens to one vector.
//
//     LayerSpec{.component = TokenPool{.pooling_type = TokenPooling::mean_std}, .keys_in = {"tokens"},
//               .keys_out = {"embedding"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace nexuml_library {

enum class TokenPooling { mean, max, std, mean_std, cls, multilayer };

// Shape: [batch, tokens, features] -> [batch, features]; mean_std -> [batch, 2 features]; multilayer:
//   [batch, layers, tokens, features] -> [batch, 2 layers features], [batch, layers, features] ->
//   [batch, layers features]
// Formula: mean, maximum or unbiased standard deviation over dim; mean_std both; cls the first token;
//   multilayer mean and deviation over the tokens of each layer
struct TokenPool {
  std::int64_t dim = -2;
  TokenPooling pooling_type = TokenPooling::mean;
  bool remove_dim = true;
  bool skip_first = false;

  static void describe(nexuml::Schema<TokenPool>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::TokenPooling> {
  using Type = nexuml_library::TokenPooling;
  static constexpr std::pair<Type, const char*> names[] = {
      {Type::mean, "mean"},         {Type::max, "max"}, {Type::std, "std"},
      {Type::mean_std, "mean_std"}, {Type::cls, "cls"}, {Type::multilayer, "multilayer"}};
};
