#include "loading/runpath.h"

namespace nexuml {

std::string runpath_searched(const std::string&) {
  return {};
}

}  // namespace nexuml
