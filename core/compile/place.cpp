#include "compile/place.h"

namespace nexuml {

void Place::remember() {
  if (value_ && value_->position().known()) position_ = value_->position();
}

Place Place::operator[](std::string_view key) const {
  Place child = *this;
  if (!child.key_path_.empty()) child.key_path_ += '.';
  child.key_path_ += key;
  child.value_ = value_ ? value_->find(key) : nullptr;
  child.remember();
  return child;
}

Place Place::operator[](std::size_t index) const {
  Place child = *this;
  child.key_path_.append("[").append(std::to_string(index)).append("]");
  child.value_ = value_ && value_->is_list() && index < value_->size() ? &value_->items()[index] : nullptr;
  child.remember();
  return child;
}

Place Place::key(std::string_view key) const {
  Place child = (*this)[key];
  if (value_ && value_->is_map())
    for (const auto& entry : value_->entries())
      if (entry.key == key && entry.key_position.known()) child.position_ = entry.key_position;
  return child;
}

Where Place::where(const std::string& layer) const {
  Where place(position_, key_path_);
  place.layer = layer;
  return place;
}

}  // namespace nexuml
