// Requires the library `test.circle_b`, which requires this one.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("circle_a", "1");
}
