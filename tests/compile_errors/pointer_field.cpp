// A pointer cannot be part of a definition. expect: This field type is not portable
#include <nexuml/schema.h>

struct Bad {
  int* data = nullptr;
  static void describe(nexuml::Schema<Bad>& s) { s.field("data", &Bad::data); }
};
auto schema = nexuml::schema_of<Bad>();
