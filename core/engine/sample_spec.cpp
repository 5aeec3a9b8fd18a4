#include "engine/sample_spec.h"

#include <nexuml/tensor_dict.h>

#include <algorithm>

namespace nexuml {

TensorSpec spec_of_sample(const at::Tensor& batch) {
  Shape shape(batch.sizes().begin(), batch.sizes().end());
  if (!shape.empty()) shape.erase(shape.begin());
  return {std::move(shape), dtype_of(batch.scalar_type())};
}

bool keeps(const TensorSpec& promised, const TensorSpec& found) {
  return promised.dtype == found.dtype &&
         std::ranges::equal(promised.shape, found.shape, [](std::int64_t size, std::int64_t real) {
           return size == unknown_size || size == real;
         });
}

}  // namespace nexuml
