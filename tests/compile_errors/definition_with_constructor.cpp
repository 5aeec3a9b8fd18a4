// Members are filled one by one. expect: a plain struct without constructors
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  explicit Bad(double value) : factor(value) {}
  static void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const;
};
nexuml::AnyLayer bad = Bad(1);
