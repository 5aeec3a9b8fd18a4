// Has a thread-local variable at a fixed place, of which the loader can give only few.
#include "../one_layer.h"

__attribute__((tls_model("initial-exec"))) static thread_local volatile int counter = 0;

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("static_tls", "1");
  counter = counter + 1;
}
