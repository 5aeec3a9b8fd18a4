// A key path that costs nothing until somebody asks for its text: a chain of nodes on the stack.
#pragma once

#include <string>
#include <string_view>

namespace nexuml::detail {

class KeyPath {
 public:
  explicit KeyPath(std::string_view root) : key_(root) {}
  KeyPath(const KeyPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  KeyPath(const KeyPath& parent, std::size_t index) : parent_(&parent), index_(index), is_index_(true) {}

  // pipeline.stages.Encoder[0].component
  std::string text() const {
    std::string result = parent_ ? parent_->text() : std::string();
    if (is_index_) return result + "[" + std::to_string(index_) + "]";
    if (!result.empty() && !key_.empty()) result += '.';
    return result.append(key_);
  }

 private:
  const KeyPath* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace nexuml::detail
