// Registers, and then an exception leaves a thread of its own.
#include <stdexcept>
#include <thread>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("throws_in_thread", "1");
  std::thread([] { throw std::runtime_error("the cache server does not answer"); }).detach();
}
