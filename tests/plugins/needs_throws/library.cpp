// Requires a library that is there and throws while it registers.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("needs_throws", "1");
}
