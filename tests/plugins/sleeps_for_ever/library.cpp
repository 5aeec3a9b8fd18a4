// Never comes back from its static initialiser.
#include <unistd.h>

static int sleep_for_ever() {
  for (;;) ::pause();
}
[[maybe_unused]] static const int slept = sleep_for_ever();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
