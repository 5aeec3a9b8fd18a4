// Leaves a process behind that holds every descriptor open, and registers as it should.
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("leaves_a_process", "1");
  if (::fork() == 0)
    for (;;) ::pause();
}
