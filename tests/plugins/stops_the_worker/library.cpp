// Stops the process that opened it, which then answers nobody.
#include <signal.h>
#include <unistd.h>

[[maybe_unused]] static const int stopped = ::kill(::getppid(), SIGSTOP);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
