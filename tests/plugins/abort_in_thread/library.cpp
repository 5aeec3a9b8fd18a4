// Registers, and then a thread of its own aborts.
#include <cstdlib>
#include <thread>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("abort_in_thread", "1");
  std::thread([] { std::abort(); }).detach();
}
