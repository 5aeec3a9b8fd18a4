// Checked arithmetic on shapes, and the bytes of a tensor as files hold them: on the CPU, row-major,
// little-endian.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml::tensor_io {

// Bytes of a contiguous tensor; nothing where a dimension is negative, where there are more than 64, or where
// the product (zeros counted as ones, as strides do) leaves 63 bits.
std::optional<std::uint64_t> checked_bytes(std::span<const std::int64_t> shape,
                                           std::size_t item_size) noexcept;

// "[2, 3]"
std::string shape_text(std::span<const std::int64_t> shape);

// Uninitialised; throws E750 where the memory for it is not there.
at::Tensor allocate(std::span<const std::int64_t> shape, at::ScalarType dtype, std::string_view name);

// Throws E753 for what has no plain bytes: undefined, sparse, quantized and meta tensors. `name` is for the
// message.
void require_plain(const at::Tensor& tensor, std::string_view name);

// A detached CPU tensor with the same values, contiguous, without conjugation or negation views; shares
// memory where it can. Throws E753 as `require_plain` does.
at::Tensor plain_tensor(const at::Tensor& tensor, std::string_view name);

// The bytes of a plain tensor, valid while it lives.
std::span<const std::byte> bytes_of(const at::Tensor& plain);
std::span<std::byte> writable_bytes_of(const at::Tensor& plain);

// Turns each number of a plain tensor round: files may be big-endian. The parts of a complex number stay in
// order.
void swap_bytes(const at::Tensor& plain);

// A row-major view of mapped bytes that keeps them mapped; a copy where they are not aligned, which
// vectorised kernels may not load. The caller has checked that the bytes are there.
at::Tensor view_mapping(const std::shared_ptr<std::byte>& mapping, std::uint64_t offset,
                        std::span<const std::int64_t> shape, at::ScalarType dtype);

}  // namespace nexuml::tensor_io
