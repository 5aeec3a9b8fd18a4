// A definition is a value: building from it changes nothing. expect: a build function that is const
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  static void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&);
};
nexuml::AnyLayer bad = Bad{};
