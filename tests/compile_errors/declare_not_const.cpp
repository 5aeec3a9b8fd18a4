// Without const nobody would call it. expect: `declare` of this data source would never be called
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  static void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  nexuml::DataDeclaration declare();
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const;
};
nexuml::AnyDataSource bad = Bad{};
