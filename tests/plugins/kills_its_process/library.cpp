// Sends the process a signal that cannot be caught.
#include <signal.h>
#include <unistd.h>

[[maybe_unused]] static const int killed = ::kill(::getpid(), SIGKILL);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
