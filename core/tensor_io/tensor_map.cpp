#include <fmt/format.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <tuple>

namespace nexuml {

TensorMap::TensorMap(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) add(entry.first, entry.second);
}

void TensorMap::add(std::string name, at::Tensor tensor) {
  if (!index_.emplace(name, entries_.size()).second) {
    throw Error("E754", fmt::format("tensor '{}' exists already", name));
  }
  entries_.emplace_back(std::move(name), std::move(tensor));
}

const at::Tensor* TensorMap::find(std::string_view name) const noexcept {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const at::Tensor& TensorMap::at(std::string_view name) const {
  if (const at::Tensor* tensor = find(name)) return *tensor;
  throw Error("E754", fmt::format("no tensor '{}' among {}", name, size()), {}, did_you_mean(name, names()));
}

std::vector<std::string> TensorMap::names() const {
  std::vector<std::string> names;
  names.reserve(size());
  for (const Entry& entry : entries_) names.push_back(entry.first);
  return names;
}

std::vector<std::vector<std::string>> find_shared(const TensorMap& tensors) {
  using View = std::tuple<const c10::StorageImpl*, std::int64_t, at::ScalarType, std::vector<std::int64_t>,
                          std::vector<std::int64_t>>;
  std::map<View, std::size_t> group_of;
  std::vector<std::vector<std::string>> groups;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined() || !tensor.has_storage() || tensor.numel() == 0) continue;
    const View view{tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset(), tensor.scalar_type(),
                    tensor.sizes().vec(), tensor.strides().vec()};
    const auto [place, is_new] = group_of.emplace(view, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(name);
  }
  std::erase_if(groups, [](const auto& names) { return names.size() < 2; });
  return groups;
}

}  // namespace nexuml
