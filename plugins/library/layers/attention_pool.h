// AttentionPool: tokens to one vector by attention with one learned query.
//
//     LayerSpec{.component = AttentionPool{.n_heads = 4}, .keys_in = {"tokens"}, .keys_out = {"embedding"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace nexuml_library {

// Shape: [batch, tokens, features] -> [batch, features]
// Formula: W_o concat_h(softmax(q_h K_h' / sqrt(d)) V_h)
// Source: Vaswani et al., Attention Is All You Need, 2017
struct AttentionPool {
  std::int64_t dim = -2;
  bool remove_dim = true;
  std::int64_t n_heads = 8;

  static void describe(nexuml::Schema<AttentionPool>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
