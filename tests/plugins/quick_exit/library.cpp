// Ends the process past every handler, with the code that means success.
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("quick_exit", "1");
  ::_exit(0);
}
