// Registers another component than its hand-written manifest declares.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("registered_only", "1");
}
