// A struct without build is no definition. expect: This type is no definition: it needs a describe function
#include <nexuml/registration.h>

struct NoBuild {
  int size = 1;
  static void describe(nexuml::Schema<NoBuild>& s) { s.field("size", &NoBuild::size); }
};
NEXUML_LIBRARY(registry) {
  registry.add<NoBuild>("no_build");
}
