// Tells in what it fails with which process opened it, and what was open before.
#include <dlfcn.h>
#include <nexuml/registration.h>
#include <unistd.h>

NEXUML_LIBRARY(registry) {
  (void)registry;
  const bool runtime = ::dlopen("libnexuml-runtime.so", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
  throw std::runtime_error("worker " + std::to_string(::getppid()) + " child " + std::to_string(::getpid()) +
                           (runtime ? " with" : " without") + " the runtime.");
}
