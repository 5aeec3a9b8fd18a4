// Ends the process as if all were well.
#include <cstdlib>

[[maybe_unused]] static const int ended = (std::exit(0), 0);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
