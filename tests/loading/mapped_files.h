// Which files this process has open as code.
#pragma once

#include <string>

#include "discovery/test_tree.h"

namespace nexuml::test {

inline bool is_mapped(const std::string& path) {
  return read_bytes("/proc/self/maps").find(path) != std::string::npos;
}

}  // namespace nexuml::test
