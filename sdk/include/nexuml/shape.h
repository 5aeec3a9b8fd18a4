// Shapes and dtypes as definitions speak of them, without tensors.
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>
#include <nexuml/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

// A size that is known only when data is seen, such as the number of frames.
inline constexpr std::int64_t unknown_size = -1;

// The shape of one sample: the batch dimension is left out. `{128}` for features of [batch, 128]; `{}` for
// [batch].
using Shape = std::vector<std::int64_t>;

enum class DType { boolean, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64 };

NEXUML_EXPORT std::string_view to_string(DType dtype) noexcept;  // "float32"
NEXUML_EXPORT std::optional<DType> dtype_from_string(std::string_view text) noexcept;
inline bool is_floating(DType dtype) noexcept {
  return dtype >= DType::float16;
}

struct TensorSpec {
  Shape shape;
  DType dtype = DType::float32;

  bool operator==(const TensorSpec&) const = default;
};

NEXUML_EXPORT std::string to_string(const Shape& shape);      // "[1, 28, 28]", unknown sizes as "?"
NEXUML_EXPORT std::string to_string(const TensorSpec& spec);  // "[1, 28, 28] float32"

// The number of elements of one sample, or unknown_size.
NEXUML_EXPORT std::int64_t element_count(const Shape& shape) noexcept;

// What a layer will produce, as `infer` tells it: outputs by key, and attributes that `meta_out` may publish.
struct Shapes {
  OrderedMap<TensorSpec> outputs;
  OrderedMap<Value> attributes;  // decoder_shape: [64, 16, 40]
};

}  // namespace nexuml
