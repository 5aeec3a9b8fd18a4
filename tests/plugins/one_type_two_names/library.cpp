// Registers one type under two names.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("one_type_two_names", "1");
  registry.add<OneLayer>("one_type_second_name", "1");
}
