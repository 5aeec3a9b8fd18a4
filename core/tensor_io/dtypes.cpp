#include "tensor_io/dtypes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace nexuml::tensor_io {

static_assert(std::endian::native == std::endian::little,
              "tensor files are little-endian and read as they are");

namespace {

// Ranks are the order of the Dtype enumeration of the safetensors package.
constexpr std::array kDtypes{
    DtypeNames{at::kBool, "bool", "BOOL", 0, "b1", "BoolStorage"},
    DtypeNames{at::kByte, "uint8", "U8", 4, "u1", "ByteStorage"},
    DtypeNames{at::kChar, "int8", "I8", 5, "i1", "CharStorage"},
    DtypeNames{at::kFloat8_e5m2, "float8_e5m2", "F8_E5M2", 6, "", ""},
    DtypeNames{at::kFloat8_e4m3fn, "float8_e4m3fn", "F8_E4M3", 7, "", ""},
    DtypeNames{at::kFloat8_e8m0fnu, "float8_e8m0fnu", "F8_E8M0", 8, "", ""},
    DtypeNames{at::kFloat8_e4m3fnuz, "float8_e4m3fnuz", "F8_E4M3FNUZ", 9, "", ""},
    DtypeNames{at::kFloat8_e5m2fnuz, "float8_e5m2fnuz", "F8_E5M2FNUZ", 10, "", ""},
    DtypeNames{at::kShort, "int16", "I16", 11, "i2", "ShortStorage"},
    DtypeNames{at::kUInt16, "uint16", "U16", 12, "u2", ""},
    DtypeNames{at::kHalf, "float16", "F16", 13, "f2", "HalfStorage"},
    DtypeNames{at::kBFloat16, "bfloat16", "BF16", 14, "", "BFloat16Storage"},
    DtypeNames{at::kInt, "int32", "I32", 15, "i4", "IntStorage"},
    DtypeNames{at::kUInt32, "uint32", "U32", 16, "u4", ""},
    DtypeNames{at::kFloat, "float32", "F32", 17, "f4", "FloatStorage"},
    DtypeNames{at::kComplexFloat, "complex64", "C64", 18, "c8", "ComplexFloatStorage"},
    DtypeNames{at::kDouble, "float64", "F64", 19, "f8", "DoubleStorage"},
    DtypeNames{at::kLong, "int64", "I64", 20, "i8", "LongStorage"},
    DtypeNames{at::kUInt64, "uint64", "U64", 21, "u8", ""},
    DtypeNames{at::kComplexDouble, "complex128", "", -1, "c16", "ComplexDoubleStorage"},
    DtypeNames{at::kComplexHalf, "complex32", "", -1, "", ""},
};

template <class Member>
const DtypeNames* find_by(Member member, std::string_view name) noexcept {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find(kDtypes, name, member);
  return found == kDtypes.end() ? nullptr : &*found;
}

}  // namespace

std::span<const DtypeNames> all_dtypes() noexcept {
  return kDtypes;
}

const DtypeNames* find_dtype(at::ScalarType dtype) noexcept {
  const auto found = std::ranges::find(kDtypes, dtype, &DtypeNames::dtype);
  return found == kDtypes.end() ? nullptr : &*found;
}

const DtypeNames* find_torch_dtype(std::string_view name) noexcept {
  return find_by(&DtypeNames::torch, name);
}
const DtypeNames* find_safetensors_dtype(std::string_view name) noexcept {
  return find_by(&DtypeNames::safetensors, name);
}
const DtypeNames* find_numpy_dtype(std::string_view name) noexcept {
  return find_by(&DtypeNames::numpy, name);
}

std::string_view dtype_name(at::ScalarType dtype) noexcept {
  const DtypeNames* names = find_dtype(dtype);
  return names ? names->torch : c10::toString(dtype);
}

}  // namespace nexuml::tensor_io
