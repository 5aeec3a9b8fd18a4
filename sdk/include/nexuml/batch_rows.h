// Tensors of batches, for `Dataset::gather`: their memory is that of batches that were freed before.
//
//     at::Tensor waves = nexuml::empty_batch({16, 32000}, at::kFloat);     // to be filled
//     at::Tensor images = nexuml::gather_rows(all_images, indices);        // [indices, ...]
//
// A batch of some megabytes that is asked of the system anew each time costs as much in page faults as a
// quarter of decoding it. Up to 256 MiB of freed batches are kept. [any thread]
#pragma once

#include <nexuml/export.h>
#include <torch/types.h>

#include <cstdint>
#include <span>

namespace nexuml {

// Not initialised, contiguous, on the CPU.
NEXUML_EXPORT at::Tensor empty_batch(at::IntArrayRef sizes, at::ScalarType dtype);

// Rows of `tensor` along its first dimension, copied. Throws Error E831 for a row that it does not have.
NEXUML_EXPORT at::Tensor gather_rows(const at::Tensor& tensor, std::span<const std::int64_t> rows);

}  // namespace nexuml
