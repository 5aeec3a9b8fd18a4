// A field that is not portable. expect: This field type is not portable
#include <nexuml/schema.h>

#include <memory>

struct Handle {
  explicit Handle(int) {}
};
struct Bad {
  std::shared_ptr<Handle> handle;
  static void describe(nexuml::Schema<Bad>& s) { s.field("handle", &Bad::handle); }
};
auto schema = nexuml::schema_of<Bad>();
