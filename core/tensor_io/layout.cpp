#include "tensor_io/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <limits>

#include "tensor_io/dtypes.h"

namespace nexuml::tensor_io {

std::optional<std::uint64_t> checked_bytes(std::span<const std::int64_t> shape,
                                           std::size_t item_size) noexcept {
  constexpr std::size_t kMaxDimensions = 64;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (shape.size() > kMaxDimensions) return std::nullopt;
  std::int64_t bytes = static_cast<std::int64_t>(item_size);
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (bytes > kMax / factor) return std::nullopt;
    bytes *= factor;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

at::Tensor allocate(std::span<const std::int64_t> shape, at::ScalarType dtype, std::string_view name) {
  try {
    return at::empty({shape.data(), shape.size()}, at::TensorOptions(dtype));
  } catch (const c10::Error&) {
    throw Error("E750", fmt::format("not enough memory for '{}' of shape {} and dtype {}", name,
                                    shape_text(shape), dtype_name(dtype)));
  }
}

void require_plain(const at::Tensor& tensor, std::string_view name) {
  const char* reason = !tensor.defined()                 ? "is undefined"
                       : tensor.layout() != at::kStrided ? "is sparse"
                       : tensor.is_quantized()           ? "is quantized"
                       : tensor.is_meta()                ? "is a meta tensor without data"
                                                         : nullptr;
  if (reason) throw Error("E753", fmt::format("tensor '{}' {} and cannot be written", name, reason));
}

at::Tensor plain_tensor(const at::Tensor& tensor, std::string_view name) {
  require_plain(tensor, name);
  return tensor.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
}

std::span<const std::byte> bytes_of(const at::Tensor& plain) {
  return {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()};
}

std::span<std::byte> writable_bytes_of(const at::Tensor& plain) {
  return {static_cast<std::byte*>(plain.mutable_data_ptr()), plain.nbytes()};
}

void swap_bytes(const at::Tensor& plain) {
  const std::size_t width = plain.element_size() / (plain.is_complex() ? 2 : 1);
  const std::span<std::byte> bytes = writable_bytes_of(plain);
  for (std::size_t i = 0; i < bytes.size(); i += width) std::ranges::reverse(bytes.subspan(i, width));
}

at::Tensor view_mapping(const std::shared_ptr<std::byte>& mapping, std::uint64_t offset,
                        std::span<const std::int64_t> shape, at::ScalarType dtype) {
  const at::IntArrayRef sizes(shape.data(), shape.size());
  const at::TensorOptions options(dtype);
  if (checked_bytes(shape, 1).value_or(0) == 0) return at::empty(sizes, options);
  std::byte* start = mapping.get() + offset;
  const at::Tensor view = at::from_blob(
      start, sizes, [keep = mapping](void*) mutable { keep.reset(); }, options);
  const bool aligned = reinterpret_cast<std::uintptr_t>(start) % c10::elementSize(dtype) == 0;
  return aligned ? view : view.clone();
}

}  // namespace nexuml::tensor_io
