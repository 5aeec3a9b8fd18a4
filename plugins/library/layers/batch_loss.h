// Losses stand in the batch like every other output: one number per sample.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace nexuml_library {

// The mean over the batch, once per sample: [] -> [batch].
inline at::Tensor repeated_for_samples(const at::Tensor& mean, std::int64_t batch) {
  return mean.expand({batch});
}

// Zeros that a backward pass accepts: [batch].
inline at::Tensor loss_without_labels(const at::Tensor& predictions) {
  return at::zeros({predictions.size(0)}, predictions.options()).requires_grad_(at::GradMode::is_enabled());
}

}  // namespace nexuml_library
