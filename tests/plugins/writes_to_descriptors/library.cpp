// Writes into every descriptor that it finds, as a logger with a stale number does, and ends the process.
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("writes_to_descriptors", "1");
  for (int descriptor = 3; descriptor < 64; ++descriptor)
    [[maybe_unused]] const auto ignored = ::write(descriptor, "started\n", 8);
}
