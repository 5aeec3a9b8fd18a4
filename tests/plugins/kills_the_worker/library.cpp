// Ends the process that opened it, which is not the one that it runs in.
#include <signal.h>
#include <unistd.h>

[[maybe_unused]] static const int killed = ::kill(::getppid(), SIGKILL);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
