// Takes its time to register.
#include <unistd.h>

#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("slow_to_open", "1");
  ::usleep(300'000);
}
