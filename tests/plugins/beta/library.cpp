// Declares layer/focal_loss@1, as `alpha` does, and a layer of its own.
#include "../one_layer.h"

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("focal_loss", "1");
  registry.add<OtherLayer>("beta_only", "1");
}
