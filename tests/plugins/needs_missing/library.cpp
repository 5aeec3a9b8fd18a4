// Requires a library that is nowhere.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("orphan", "1");
}
