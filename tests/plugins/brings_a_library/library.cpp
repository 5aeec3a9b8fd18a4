// Uses a private shared library that lies beside it.
#include "../one_layer.h"

extern "C" int private_function();

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("brought_" + std::to_string(private_function()), "1");
}
