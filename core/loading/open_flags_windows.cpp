#include <windows.h>

#include "loading/open_library.h"

namespace nexuml {

// The library's own folder is where its private libraries are looked for.
int library_open_flags() noexcept {
  return LOAD_WITH_ALTERED_SEARCH_PATH;
}

void keep_open(const boost::dll::shared_library& library) {
  HMODULE pinned = nullptr;
  ::GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<const char*>(library.native()), &pinned);
}

bool is_open(const char* soname) noexcept {
  return ::GetModuleHandleA(soname) != nullptr;
}

}  // namespace nexuml
