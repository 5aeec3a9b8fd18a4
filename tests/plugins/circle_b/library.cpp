// Requires the library `test.circle_a`, which requires this one.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("circle_b", "1");
}
