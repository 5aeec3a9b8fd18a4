// Without const nobody would call it. expect: `infer` of this layer would never be called
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  static void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  nexuml::Shapes infer(const nexuml::LayerInferContext&);
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const;
};
nexuml::AnyLayer bad = Bad{};
