// Rules on keys and shapes that several layers share. Each throws Error E807 naming the layer.
#pragma once

#include <nexuml/layer_context.h>

#include <cstddef>
#include <cstdint>

namespace nexuml_library {

void check_key_counts(const nexuml::LayerInferContext& context, std::size_t inputs, std::size_t outputs);

// The number of features of one sample of the i-th input.
std::int64_t feature_count(const nexuml::LayerInferContext& context, std::size_t index = 0);

// The size of the last dimension of the i-th input, which the layer needs to know.
std::int64_t last_size(const nexuml::LayerInferContext& context, std::size_t index = 0);

// `dim` of a tensor with its batch dimension, as Python counts it, as an index into a sample's shape. The
// batch dimension itself is refused.
std::size_t sample_dimension(const nexuml::LayerInferContext& context, std::int64_t dim, std::size_t rank);

// The number of features of tokens [batch, tokens, features], whose tokens are dimension `dim`.
std::int64_t token_features(const nexuml::LayerInferContext& context, std::int64_t dim);

// One number per sample: [batch].
inline nexuml::TensorSpec per_sample() {
  return {.shape = {}, .dtype = nexuml::DType::float32};
}

}  // namespace nexuml_library
