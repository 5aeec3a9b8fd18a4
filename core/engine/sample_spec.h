// What one sample of a batch is, and whether it is what somebody promised.
#pragma once

#include <ATen/core/Tensor.h>
#include <nexuml/shape.h>

namespace nexuml {

TensorSpec spec_of_sample(const at::Tensor& batch);
// The same dtype and shape; an unknown size of what was promised is any size.
bool keeps(const TensorSpec& promised, const TensorSpec& found);

}  // namespace nexuml
