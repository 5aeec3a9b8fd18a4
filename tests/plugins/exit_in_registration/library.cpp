// Ends the process while it registers, as a licence check might.
#include <cstdio>
#include <cstdlib>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("exit_in_registration", "1");
  std::puts("the licence has expired");
  std::exit(17);
}
