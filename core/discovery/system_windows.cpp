#include <windows.h>
// After windows.h, which it needs.
#include <shlwapi.h>

#include "discovery/system.h"

namespace nexuml {

OwnPlace own_place() {
  HMODULE own = nullptr;
  char path[MAX_PATH] = {};
  const bool found = ::GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                              GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                          reinterpret_cast<const char*>(&own_place), &own) &&
                     ::GetModuleFileNameA(own, path, sizeof path) < sizeof path;
  return {found ? path : "", false};
}

bool fits_glob(const std::string& glob, const std::string& text) {
  return ::PathMatchSpecA(text.c_str(), glob.c_str());
}

}  // namespace nexuml
