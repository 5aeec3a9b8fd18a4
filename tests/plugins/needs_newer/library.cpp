// Requires a newer `test.good` than there is.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("needs_newer", "1");
}
