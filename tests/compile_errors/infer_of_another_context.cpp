// Nobody passes a build context here. expect: `infer` of this layer would never be called
#include <nexuml/definition.h>

struct Bad {
  double factor = 1;
  static void describe(nexuml::Schema<Bad>& s) { s.field("factor", &Bad::factor); }
  nexuml::Shapes infer(const nexuml::LayerBuildContext&, int) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const;
};
nexuml::AnyLayer bad = Bad{};
