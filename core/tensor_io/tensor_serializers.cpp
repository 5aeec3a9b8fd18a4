#include <ATen/ops/empty.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <fmt/format.h>
#include <nexuml/tensor_serializers.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor_io/base64.h"
#include "tensor_io/dtypes.h"

namespace nexuml {
namespace {

using tensor_io::DtypeNames;

[[noreturn]] void refuse_value(const Value& value, const std::string& message, const std::string& hint = {}) {
  throw Error("E744", message, Where(value.position()), hint);
}

// ---- dtypes and devices

// Other names of torch for the same dtypes.
constexpr std::array<std::pair<std::string_view, at::ScalarType>, 8> kDtypeAliases{
    {{"half", at::kHalf},
     {"float", at::kFloat},
     {"double", at::kDouble},
     {"short", at::kShort},
     {"int", at::kInt},
     {"long", at::kLong},
     {"cfloat", at::kComplexFloat},
     {"cdouble", at::kComplexDouble}}};

constexpr std::array<std::pair<std::string_view, at::DeviceType>, 5> kDevices{
    {{"cpu", at::kCPU}, {"cuda", at::kCUDA}, {"mps", at::kMPS}, {"xpu", at::kXPU}, {"meta", at::kMeta}}};

std::string dtype_in_words(at::ScalarType dtype) {
  return fmt::format("torch.{}", tensor_io::dtype_name(dtype));
}

// ---- tensors

constexpr std::array<std::string_view, 3> kTensorKeys{"dtype", "shape", "data"};

const Value& member(const Value& tensor, std::string_view key) {
  const Value* found = tensor.find(key);
  if (!found) refuse_value(tensor, fmt::format("a tensor is {{dtype, shape, data}}, '{}' is missing", key));
  return *found;
}

std::vector<std::int64_t> shape_of(const Value& shape) {
  if (!shape.is_list())
    refuse_value(shape, fmt::format("shape: list of sizes expected, got {}", describe_for_message(shape)));
  std::vector<std::int64_t> sizes;
  for (const Value& size : shape.items()) {
    if (!size.is_integer() || size.as_integer() < 0)
      refuse_value(size, fmt::format("shape: size expected, got {}", describe_for_message(size)));
    sizes.push_back(size.as_integer());
  }
  return sizes;
}

// Bytes of a tensor of this shape. Refuses what no file could hold, before anything is allocated.
std::size_t tensor_bytes(const Value& at, const std::vector<std::int64_t>& shape, std::size_t item_size) {
  constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::size_t bytes = item_size;
  for (const std::int64_t size : shape) {
    if (bytes > limit / static_cast<std::size_t>(size))
      refuse_value(at, "shape: the sizes multiply to more than memory can hold");
    bytes *= static_cast<std::size_t>(size);
  }
  return bytes;
}

void fill_from_base64(at::Tensor& tensor, const std::vector<std::byte>& bytes) {
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
}

// Writes numbers of nested lists into a tensor, in row-major order.
class NumberWriter {
 public:
  NumberWriter(at::Tensor& tensor, std::vector<std::int64_t> shape)
      : bytes_(static_cast<std::byte*>(tensor.data_ptr())),
        dtype_(tensor.scalar_type()),
        shape_(std::move(shape)) {}

  void write(const Value& value, std::size_t dimension = 0) {
    if (dimension == shape_.size()) return write_number(value);
    const auto size = static_cast<std::size_t>(shape_[dimension]);
    if (!value.is_list() || value.size() != size)
      refuse_value(value, fmt::format("data: a list of {} expected in dimension {}, got {}", size, dimension,
                                      describe_for_message(value)));
    for (const Value& item : value.items()) write(item, dimension + 1);
  }

 private:
  template <class T>
  void put(T number) {
    std::memcpy(bytes_, &number, sizeof(T));
    bytes_ += sizeof(T);
  }

  template <class I>
  void put_integer(const Value& value) {
    if (!value.is_integer())
      refuse_value(value, fmt::format("data: whole number expected for {}, got {}", dtype_in_words(dtype_),
                                      describe_for_message(value)));
    const std::int64_t number = value.as_integer();
    const bool fits = std::in_range<I>(number);
    if (!fits)
      refuse_value(value, fmt::format("data: {} is out of the range of {}", number, dtype_in_words(dtype_)));
    put(static_cast<I>(number));
  }

  template <class F>
  void put_fraction(const Value& value) {
    if (!value.is_number())
      refuse_value(
          value,
          fmt::format("data: number expected for {}, got {}", dtype_in_words(dtype_),
                      describe_for_message(value)),
          value.is_null() ? "JSON has no NaN and no infinity: write data as base64 of the bytes" : "");
    const double number = value.as_number();
    const F narrowed = static_cast<F>(number);
    if (!std::isfinite(static_cast<double>(narrowed)))
      refuse_value(value, fmt::format("data: {} is out of the range of {}", number, dtype_in_words(dtype_)));
    put(narrowed);
  }

  void write_number(const Value& value) {
    switch (dtype_) {
      case at::kBool:
        if (!value.is_boolean())
          refuse_value(value,
                       fmt::format("data: true or false expected, got {}", describe_for_message(value)));
        return put(value.as_boolean());
      case at::kByte:
        return put_integer<std::uint8_t>(value);
      case at::kChar:
        return put_integer<std::int8_t>(value);
      case at::kShort:
        return put_integer<std::int16_t>(value);
      case at::kInt:
        return put_integer<std::int32_t>(value);
      case at::kLong:
        return put_integer<std::int64_t>(value);
      case at::kUInt16:
        return put_integer<std::uint16_t>(value);
      case at::kUInt32:
        return put_integer<std::uint32_t>(value);
      case at::kUInt64:
        return put_integer<std::uint64_t>(value);
      case at::kHalf:
        return put_fraction<at::Half>(value);
      case at::kBFloat16:
        return put_fraction<at::BFloat16>(value);
      case at::kFloat:
        return put_fraction<float>(value);
      case at::kDouble:
        return put_fraction<double>(value);
      case at::kFloat8_e4m3fn:
        return put_fraction<at::Float8_e4m3fn>(value);
      case at::kFloat8_e5m2:
        return put_fraction<at::Float8_e5m2>(value);
      default:
        refuse_value(value, fmt::format("data: numbers in lists are not read for {}", dtype_in_words(dtype_)),
                     "write data as base64 of the bytes");
    }
  }

  std::byte* bytes_;
  at::ScalarType dtype_;
  std::vector<std::int64_t> shape_;
};

bool is_tensor_form(const Value& value, std::string_view third) {
  return value.is_map() && value.size() == 3 && value.find("dtype") && value.find("shape") &&
         value.find(third);
}

std::string joined_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Applies `change` to every map of three keys that holds a tensor, by key path.
template <class Change>
Value change_tensors(const Value& value, std::string_view third, const std::string& path,
                     const Change& change) {
  if (is_tensor_form(value, third)) return change(value, path);
  Value result = value;
  if (value.is_list())
    for (std::size_t i = 0; i < value.size(); ++i)
      result.items()[i] = change_tensors(value.items()[i], third, fmt::format("{}[{}]", path, i), change);
  if (value.is_map())
    for (Value::Entry& entry : result.entries())
      entry.value = change_tensors(Value(entry.value), third, joined_path(path, entry.key), change);
  return result;
}

}  // namespace

Value TypeSerializer<at::ScalarType>::to_value(const at::ScalarType& dtype) {
  const DtypeNames* names = tensor_io::find_dtype(dtype);
  if (!names) throw Error("E744", fmt::format("the dtype {} has no name in recipes", c10::toString(dtype)));
  return fmt::format("torch.{}", names->torch);
}

at::ScalarType TypeSerializer<at::ScalarType>::from_value(const Value& value) {
  if (!value.is_string()) refuse_value(value, "text such as torch.float32 expected");
  std::string_view text = value.as_string();
  constexpr std::string_view module = "torch.";
  if (text.starts_with(module)) text.remove_prefix(module.size());
  if (const DtypeNames* names = tensor_io::find_torch_dtype(text)) return names->dtype;
  for (const auto& [alias, dtype] : kDtypeAliases)
    if (text == alias) return dtype;
  std::vector<std::string> known;
  for (const DtypeNames& names : tensor_io::all_dtypes())
    known.push_back(fmt::format("torch.{}", names.torch));
  refuse_value(value, "there is no such dtype", did_you_mean(value.as_string(), known));
}

Value TypeSerializer<at::Device>::to_value(const at::Device& device) {
  for (const auto& [name, type] : kDevices)
    if (type == device.type())
      return device.has_index() ? fmt::format("{}:{}", name, static_cast<int>(device.index()))
                                : std::string(name);
  throw Error("E744", fmt::format("the device {} has no name in recipes", device.str()));
}

at::Device TypeSerializer<at::Device>::from_value(const Value& value) {
  if (!value.is_string()) refuse_value(value, "text such as cuda:0 expected");
  const std::string_view text = value.as_string();
  const std::size_t colon = text.find(':');
  const auto kind =
      std::ranges::find(kDevices, text.substr(0, colon), &std::pair<std::string_view, at::DeviceType>::first);
  if (kind == kDevices.end())
    refuse_value(value, "there is no such kind of device",
                 "cpu, cuda, mps, xpu or meta, with an index or without");
  if (colon == std::string_view::npos) return at::Device(kind->second);
  const std::string_view digits = text.substr(colon + 1);
  at::DeviceIndex index = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool canonical = digits == "0" || (!digits.empty() && digits.front() >= '1' && digits.front() <= '9');
  if (failure != std::errc{} || end != digits.data() + digits.size() || !canonical)
    refuse_value(value, "the index of a device is a number from 0 to 127");
  return at::Device(kind->second, index);
}

Value TypeSerializer<at::Tensor>::to_value(const at::Tensor& tensor) {
  if (!tensor.defined()) throw Error("E744", "a tensor that is not defined cannot be written");
  if (tensor.layout() != at::kStrided || tensor.is_quantized())
    throw Error("E744",
                fmt::format("a {} tensor cannot be written", tensor.is_quantized() ? "quantized" : "sparse"),
                {}, "make it dense first");
  const Value dtype = TypeSerializer<at::ScalarType>::to_value(tensor.scalar_type());
  const at::Tensor dense = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
  const std::span bytes(static_cast<const std::byte*>(dense.const_data_ptr()), dense.nbytes());
  return Value::map(
      {{"dtype", dtype},
       {"shape", Value(std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end()))},
       {"data", tensor_io::to_base64(bytes)}});
}

at::Tensor TypeSerializer<at::Tensor>::from_value(const Value& value) {
  if (!value.is_map())
    refuse_value(value,
                 fmt::format("a tensor is {{dtype, shape, data}}, got {}", describe_for_message(value)));
  for (const Value::Entry& entry : value.entries())
    if (std::ranges::find(kTensorKeys, entry.key) == kTensorKeys.end())
      refuse_value(value, fmt::format("a tensor is {{dtype, shape, data}}, found '{}'", entry.key));
  const at::ScalarType dtype = TypeSerializer<at::ScalarType>::from_value(member(value, "dtype"));
  const std::vector<std::int64_t> shape = shape_of(member(value, "shape"));
  const Value& data = member(value, "data");
  const std::size_t expected = tensor_bytes(member(value, "shape"), shape, c10::elementSize(dtype));
  if (!data.is_string()) {
    // As many numbers as the list holds: a shape alone allocates nothing.
    std::int64_t rows = shape.empty() ? 0 : shape.front();
    if (!shape.empty() && (!data.is_list() || static_cast<std::int64_t>(data.size()) != rows))
      refuse_value(data, fmt::format("data: a list of {} expected in dimension 0, got {}", rows,
                                     describe_for_message(data)));
    if (expected > (std::size_t{64} << 20))
      refuse_value(data, "data: too many numbers for nested lists", "write data as base64 of the bytes");
    at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(dtype));
    NumberWriter(tensor, shape).write(data);
    return tensor;
  }
  if (data.as_string().size() != (expected + 2) / 3 * 4)
    refuse_value(
        data,
        fmt::format("data: {} bytes expected for this dtype and shape, which are {} characters of base64; "
                    "found {}",
                    expected, (expected + 2) / 3 * 4, data.as_string().size()));
  const auto bytes = tensor_io::from_base64(data.as_string());
  if (!bytes || bytes->size() != expected) refuse_value(data, "data: no base64 of the tensor's bytes");
  at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(dtype));
  fill_from_base64(tensor, *bytes);
  return tensor;
}

Value without_large_tensors(const Value& recipe, std::size_t max_bytes, TensorMap& tensors) {
  return change_tensors(recipe, "data", {}, [&](const Value& form, const std::string& path) -> Value {
    const Value& data = form.at("data");
    if (!data.is_string() || data.as_string().size() / 4 * 3 <= max_bytes) return form;
    at::Tensor tensor = TypeSerializer<at::Tensor>::from_value(form);
    if (tensor_io::find_dtype(tensor.scalar_type())->safetensors.empty()) return form;  // complex numbers
    tensors.add(path, std::move(tensor));
    return Value::map({{"dtype", form.at("dtype")}, {"shape", form.at("shape")}, {"file", path}});
  });
}

Value with_tensors(const Value& recipe, const TensorMap& tensors) {
  return change_tensors(recipe, "file", {}, [&](const Value& form, const std::string& path) -> Value {
    const Value& name = form.at("file");
    const at::Tensor* tensor = name.is_string() ? tensors.find(name.as_string()) : nullptr;
    if (!tensor)
      refuse_value(form, fmt::format("{}: the tensor file holds no {}", path, describe_for_message(name)));
    Value restored = TypeSerializer<at::Tensor>::to_value(*tensor);
    if (!(restored.at("dtype") == form.at("dtype")) || !(restored.at("shape") == form.at("shape")))
      refuse_value(
          form, fmt::format("{}: the tensor file holds another dtype or shape than the recipe says", path));
    return restored;
  });
}

}  // namespace nexuml
