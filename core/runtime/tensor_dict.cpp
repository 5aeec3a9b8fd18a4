#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/diagnostic.h>
#include <nexuml/tensor_dict.h>

#include <algorithm>

namespace nexuml {

TensorDict::TensorDict(std::initializer_list<Entry> entries) {
  for (const auto& [key, tensor] : entries) set(key, tensor);
}

void TensorDict::set(std::string_view key, at::Tensor tensor) {
  for (auto& [name, held] : entries_)
    if (name == key) {
      held = std::move(tensor);
      return;
    }
  entries_.emplace_back(key, std::move(tensor));
}

const at::Tensor* TensorDict::find(std::string_view key) const noexcept {
  for (const auto& [name, tensor] : entries_)
    if (name == key) return &tensor;
  return nullptr;
}

const at::Tensor& TensorDict::get(std::string_view key) const {
  if (const at::Tensor* tensor = find(key)) return *tensor;
  const auto names = keys();
  throw Error("E801", fmt::format("no key '{}'; there are: {}", key, fmt::join(names, ", ")), {},
              did_you_mean(key, names));
}

bool TensorDict::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == key; }) != 0;
}

std::vector<std::string> TensorDict::keys() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, tensor] : entries_) names.push_back(name);
  return names;
}

std::int64_t TensorDict::batch_size() const {
  for (const auto& [name, tensor] : entries_)
    if (tensor.dim() > 0) return tensor.size(0);
  return 0;
}

TensorDict TensorDict::to(const at::Device& device, bool non_blocking) const {
  TensorDict moved;
  moved.entries_.reserve(entries_.size());
  for (const auto& [name, tensor] : entries_)
    moved.entries_.emplace_back(name, tensor.to(device, non_blocking));
  return moved;
}

Batch Batch::to(const at::Device& device, bool non_blocking) const {
  Batch moved{x.to(device, non_blocking), std::nullopt};
  if (y) moved.y = y->to(device, non_blocking);
  return moved;
}

at::ScalarType scalar_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean:
      return at::kBool;
    case DType::uint8:
      return at::kByte;
    case DType::int8:
      return at::kChar;
    case DType::int16:
      return at::kShort;
    case DType::int32:
      return at::kInt;
    case DType::int64:
      return at::kLong;
    case DType::float16:
      return at::kHalf;
    case DType::bfloat16:
      return at::kBFloat16;
    case DType::float32:
      return at::kFloat;
    case DType::float64:
      return at::kDouble;
  }
  return at::kFloat;
}

DType dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return DType::boolean;
    case at::kByte:
      return DType::uint8;
    case at::kChar:
      return DType::int8;
    case at::kShort:
      return DType::int16;
    case at::kInt:
      return DType::int32;
    case at::kLong:
      return DType::int64;
    case at::kHalf:
      return DType::float16;
    case at::kBFloat16:
      return DType::bfloat16;
    case at::kFloat:
      return DType::float32;
    case at::kDouble:
      return DType::float64;
    default:
      throw Error("E801", fmt::format("the dtype {} has no name in a definition", c10::toString(type)), {},
                  "use a boolean, integer or real floating dtype");
  }
}

}  // namespace nexuml
