// Tensors, dtypes and devices as arguments of targets and in recipes.
//
//     struct Prior {                                       // the arguments of a target
//       at::Tensor mean = at::zeros({2});
//       at::ScalarType dtype = at::kFloat;
//       at::Device device = at::kCPU;
//       static void describe(nexuml::Schema<Prior>& s) { s.field("mean", &Prior::mean); ... }
//
// In JSON: "torch.float32"; "cuda:0"; {"dtype": "torch.float32", "shape": [2], "data": "AACAPwAAAEA="}, where
// data is the base64 of the little-endian bytes in row-major order. Every bit survives: NaN payloads, -0,
// infinities, bf16, float8, complex, the extremes of int64, empty tensors and those of no dimension. Nested
// lists of numbers are read too, type-checked: a fraction for an integer, a number out of the dtype's range
// and a shape that differs are refused. Device, strides and requires_grad are not kept: what is read lies on
// the CPU. Only the dtypes and devices of a closed list are read; nothing is looked up by name in LibTorch.
// [any thread]
//
// Tensors are no part of definitions: those are portable values. These are for targets, whose arguments
// recipes keep.
#pragma once

#include <nexuml/export.h>
#include <nexuml/tensor_io.h>
#include <nexuml/type_serializer.h>
#include <torch/types.h>

#include <cstddef>

namespace nexuml {

template <>
struct NEXUML_EXPORT TypeSerializer<at::Tensor> {
  static constexpr const char* name = "torch.Tensor";
  static Value to_value(const at::Tensor& tensor);   // throws Error E744 for sparse and quantized tensors
  static at::Tensor from_value(const Value& value);  // throws Error E744
};
template <>
struct NEXUML_EXPORT TypeSerializer<at::ScalarType> {
  static constexpr const char* name = "torch.dtype";
  static Value to_value(const at::ScalarType& dtype);
  static at::ScalarType from_value(const Value& value);  // "torch.float32", "float32", also half, double, ...
};
template <>
struct NEXUML_EXPORT TypeSerializer<at::Device> {
  static constexpr const char* name = "torch.device";
  static Value to_value(const at::Device& device);
  static at::Device from_value(const Value& value);  // whether the device exists is not asked
};

// A dtype is an enum to C++; it is written by the serializer all the same.
template <>
struct FieldTraits<at::ScalarType> : detail::SerializedTraits<at::ScalarType> {};

// Moves the data of tensors above `max_bytes` out of a recipe's JSON: each becomes {dtype, shape, file:
// name}, and `tensors` gets it under that name (its key path). Checkpoints keep `tensors` beside their
// weights.
NEXUML_EXPORT Value without_large_tensors(const Value& recipe, std::size_t max_bytes, TensorMap& tensors);
// The way back. Throws Error E744 for a name that `tensors` lacks, and for another dtype or shape.
NEXUML_EXPORT Value with_tensors(const Value& recipe, const TensorMap& tensors);

}  // namespace nexuml
