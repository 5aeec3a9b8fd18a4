// Registers, unless the environment says that its licence has expired.
#include <nexuml/registration.h>

#include <cstdlib>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("licensed", "1");
  if (std::getenv("NEXUML_TEST_EXPIRED")) throw std::runtime_error("the licence has expired");
}
