// Waits for an answer on its standard input.
#include <cstdio>
#include <stdexcept>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("asks_the_user", "1");
  std::puts("Do you accept the licence? [y/n]");
  if (std::getchar() == EOF) throw std::runtime_error("nobody accepted the licence");
}
