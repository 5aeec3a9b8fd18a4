// Key paths as messages and overrides write them: pipeline.stages.Encoder[0].component.
#pragma once

#include <string>
#include <string_view>

namespace nexuml {

inline std::string join_key(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + '.' + std::string(key);
}

inline std::string join_index(const std::string& path, std::size_t index) {
  return path + '[' + std::to_string(index) + ']';
}

}  // namespace nexuml
