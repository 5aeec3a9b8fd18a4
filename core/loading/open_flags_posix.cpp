#include <dlfcn.h>

#include "loading/open_library.h"

namespace nexuml {

int library_open_flags() noexcept {
  return RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
}

// RTLD_NODELETE did.
void keep_open(const boost::dll::shared_library&) {}

bool is_open(const char* soname) noexcept {
  void* handle = ::dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) ::dlclose(handle);
  return handle != nullptr;
}

}  // namespace nexuml
