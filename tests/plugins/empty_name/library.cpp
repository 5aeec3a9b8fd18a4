// Registers a component without a name.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("empty_name", "1");
  registry.add<OtherLayer>("", "1");
}
