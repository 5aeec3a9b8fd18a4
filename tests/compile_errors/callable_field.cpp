// A callable cannot be part of a definition. expect: This field type is not portable
#include <nexuml/schema.h>

#include <functional>

struct Bad {
  std::function<double(double)> activation;
  static void describe(nexuml::Schema<Bad>& s) { s.field("activation", &Bad::activation); }
};
auto schema = nexuml::schema_of<Bad>();
