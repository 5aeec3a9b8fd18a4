// Closes every file descriptor of the process that opened it.
#include <unistd.h>

[[maybe_unused]] static const int closed = [] {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) ::close(descriptor);
  return 0;
}();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
