// Asks for more memory than there can be.
#include <new>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("eats_memory", "1");
  for (;;) ::operator new (std::size_t{1} << 40);
}
