// Shows a symbol beside its entry, one that another library may show, too.
#include "../one_layer.h"

extern "C" __attribute__((visibility("default"))) int deflate_everything() {
  return 1;
}

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("exports_more", "1");
}
