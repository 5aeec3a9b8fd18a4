// Registers types outside every namespace, where the next library may have a type of the same name.
#include "../one_layer.h"

struct Loose {
  double value = 1.0;

  static void describe(nexuml::Schema<Loose>& s) { s.field("value", &Loose::value); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

template <class T>
struct LooseTemplate {
  double value = 1.0;

  static void describe(nexuml::Schema<LooseTemplate>& s) { s.field("value", &LooseTemplate::value); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

namespace settled {

struct Settled {
  double value = 1.0;

  static void describe(nexuml::Schema<Settled>& s) { s.field("value", &Settled::value); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

}  // namespace settled

NEXUML_LIBRARY(registry) {
  registry.add<Loose>("loose", "1");
  registry.add<LooseTemplate<settled::Settled>>("loose_template", "1");
  registry.add<settled::Settled>("settled", "1");
  registry.add<OneLayer>("anonymous", "1");
}
