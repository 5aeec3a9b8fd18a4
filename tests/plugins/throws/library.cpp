// Throws while it registers, after a component was staged.
#include <nexuml/registration.h>

#include <stdexcept>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("throws", "1");
  throw std::runtime_error("no licence file was found");
}
