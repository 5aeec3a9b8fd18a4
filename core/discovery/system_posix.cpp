#include <dlfcn.h>
#include <fnmatch.h>
#include <sys/auxv.h>

#include "discovery/system.h"

namespace nexuml {

OwnPlace own_place() {
  Dl_info own{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&own_place), &own) != 0 && own.dli_fname;
  return {found ? own.dli_fname : "", ::getauxval(AT_SECURE) != 0};
}

bool fits_glob(const std::string& glob, const std::string& text) {
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

}  // namespace nexuml
