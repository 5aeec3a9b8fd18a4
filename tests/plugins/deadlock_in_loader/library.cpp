// Waits in a static initialiser for a thread that needs the loader, which waits for the static initialiser.
#include <dlfcn.h>

#include <thread>

static int wait_for_thread() {
  std::thread([] { ::dlopen("libm.so.6", RTLD_NOW); }).join();
  return 0;
}
[[maybe_unused]] static const int waited = wait_for_thread();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
