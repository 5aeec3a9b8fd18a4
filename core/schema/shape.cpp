#include <nexuml/shape.h>

#include <array>
#include <utility>

namespace nexuml {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 10> kDTypes{{{DType::boolean, "bool"},
                                                                      {DType::uint8, "uint8"},
                                                                      {DType::int8, "int8"},
                                                                      {DType::int16, "int16"},
                                                                      {DType::int32, "int32"},
                                                                      {DType::int64, "int64"},
                                                                      {DType::float16, "float16"},
                                                                      {DType::bfloat16, "bfloat16"},
                                                                      {DType::float32, "float32"},
                                                                      {DType::float64, "float64"}}};

}  // namespace

std::string_view to_string(DType dtype) noexcept {
  for (const auto& [candidate, text] : kDTypes)
    if (candidate == dtype) return text;
  return "unknown";
}

std::optional<DType> dtype_from_string(std::string_view text) noexcept {
  for (const auto& [dtype, candidate] : kDTypes)
    if (candidate == text) return dtype;
  return std::nullopt;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += size == unknown_size ? "?" : std::to_string(size);
  }
  return text + "]";
}

std::string to_string(const TensorSpec& spec) {
  return to_string(spec.shape) + " " + std::string(to_string(spec.dtype));
}

std::int64_t element_count(const Shape& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size == unknown_size) return unknown_size;
    count *= size;
  }
  return count;
}

}  // namespace nexuml
