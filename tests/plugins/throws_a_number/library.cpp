// Throws what is no exception class.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("throws_a_number", "1");
  throw 42;
}
