// AttentiveStatisticsPool: the weighted mean and deviation of tokens, the weights being learned.
//
//     LayerSpec{.component = AttentiveStatisticsPool{.hidden_dim = 64}, .keys_in = {"tokens"},
//               .keys_out = {"embedding"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace nexuml_library {

// Shape: [batch, tokens, features] -> [batch, features]
// Formula: w = softmax_t(v tanh(W x + b)); m = sum w x; s = sqrt(sum w (x - m)^2 + 1e-9); P [m, s] + p
// Source: Okabe et al., Attentive Statistics Pooling for Deep Speaker Embedding, 2018
struct AttentiveStatisticsPool {
  std::int64_t dim = -2;
  bool remove_dim = true;
  std::int64_t hidden_dim = 128;

  static void describe(nexuml::Schema<AttentiveStatisticsPool>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
