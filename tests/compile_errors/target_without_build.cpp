// Arguments that build nothing. expect: This type is no target: it needs a describe function
#include <nexuml/registration.h>

struct Arguments {
  double factor = 1;
  static void describe(nexuml::Schema<Arguments>& s) { s.field("factor", &Arguments::factor); }
};
NEXUML_LIBRARY(registry) {
  registry.add_target<Arguments>("acme:Scale");
}
