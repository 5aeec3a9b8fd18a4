// Asks for more and more memory, in pieces that no system refuses for their size, and gives none back.
#include <vector>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("eats_memory", "1");
  static std::vector<void*> pieces;
  for (;;) pieces.push_back(::operator new (std::size_t{256} << 20));
}
