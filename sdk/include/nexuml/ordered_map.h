// OrderedMap: a text-keyed map that keeps the order in which keys were added, as YAML authors wrote it.
//
//     OrderedMap<double> loss_keys{{"reconstruction_loss", 1.0}};
//     loss_keys["kl"] = 0.1;
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nexuml {

template <class T>
class OrderedMap {
 public:
  using value_type = std::pair<std::string, T>;

  OrderedMap() = default;
  OrderedMap(std::initializer_list<value_type> entries) {
    for (const auto& [key, value] : entries) (*this)[key] = value;
  }

  T& operator[](std::string_view key) {
    if (T* found = find(key)) return *found;
    return entries_.emplace_back(std::string(key), T{}).second;
  }
  T* find(std::string_view key) noexcept {
    for (auto& [name, value] : entries_)
      if (name == key) return &value;
    return nullptr;
  }
  const T* find(std::string_view key) const noexcept { return const_cast<OrderedMap*>(this)->find(key); }
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  const T& at(std::string_view key) const {
    if (const T* found = find(key)) return *found;
    throw std::out_of_range("no key '" + std::string(key) + "'");
  }
  // Adds at the end without searching: for callers that know the key is new.
  T& append(std::string key, T value) {
    return entries_.emplace_back(std::move(key), std::move(value)).second;
  }
  bool erase(std::string_view key) {
    return std::erase_if(entries_, [&](const value_type& entry) { return entry.first == key; }) != 0;
  }
  void clear() noexcept { entries_.clear(); }

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  auto begin() noexcept { return entries_.begin(); }
  auto end() noexcept { return entries_.end(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  bool operator==(const OrderedMap&) const = default;

 private:
  std::vector<value_type> entries_;
};

}  // namespace nexuml
