// Declares layer/focal_loss@1, as `beta` does.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("focal_loss", "1");
}
