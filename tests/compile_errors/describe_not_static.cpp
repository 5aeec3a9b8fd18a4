// There is no object yet when a type is described. expect: it needs `static void describe(nexuml::Schema<T>&)`
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const;
};
nexuml::AnyLayer bad = Bad{};
