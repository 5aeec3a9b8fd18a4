// A place in a scenario: its key path and, where the document is known, the node that was read there.
//
//     Place layer = root["pipeline"]["stages"][stage][3];
//     problems.error("E801", "...", layer["keys_in"][0].where(layer_name));
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace nexuml {

class Place {
 public:
  explicit Place(const Value* document) : value_(document) { remember(); }

  // A key or an item that the document lacks keeps the position of what holds it.
  Place operator[](std::string_view key) const;
  Place operator[](std::size_t index) const;
  // The position of the key itself instead of its value.
  Place key(std::string_view key) const;

  const Value* value() const noexcept { return value_; }
  const std::string& key_path() const noexcept { return key_path_; }
  Where where(const std::string& layer = {}) const;

 private:
  void remember();

  const Value* value_;
  Position position_;
  std::string key_path_;
};

}  // namespace nexuml
