// Looks a value up by its dotted key path; keys only, no list indices.
#pragma once

#include <nexuml/value.h>

#include <algorithm>
#include <string_view>

namespace nexuml {

// Null where any part of the path is missing.
inline const Value* find_path(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (at && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

}  // namespace nexuml
