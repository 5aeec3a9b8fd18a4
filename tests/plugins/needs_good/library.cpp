// Requires the library `test.good`, and has a scenario that asks for one of its layers by identity.
#include "../one_layer.h"

namespace {

nexuml::ScenarioSpec borrowed(const nexuml::NoParameters&, const nexuml::ScenarioContext& context) {
  nexuml::ScenarioSpec scenario{.name = "borrowed"};
  scenario.pipeline.stages["Main"] = {{.component = context.layer("gain", {{"factor", 3.0}}),
                                       .keys_in = nexuml::Keys{"features"},
                                       .keys_out = {"loss"}}};
  scenario.data.source = context.data_source("ramp");
  return scenario;
}

}  // namespace

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>("dependent", "1");
  registry.add_scenario<nexuml::NoParameters>("borrowed", borrowed);
}
