// Registers two types under one name.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("twice_the_same_name", "1");
  registry.add<OtherLayer>("twice_the_same_name", "1");
}
