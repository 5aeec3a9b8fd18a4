// Batches in memory that a GPU copies from by itself.
#pragma once

#include <nexuml/tensor_dict.h>

namespace nexuml {

inline TensorDict pinned(const TensorDict& tensors) {
  TensorDict result;
  for (const auto& [key, tensor] : tensors) result.set(key, tensor.pin_memory());
  return result;
}

inline Batch pinned(const Batch& batch) {
  Batch result;
  result.x = pinned(batch.x);
  if (batch.y) result.y = pinned(*batch.y);
  return result;
}

}  // namespace nexuml
