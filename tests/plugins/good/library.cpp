// A library that does everything right: a layer, a data source and a scenario, none of which is ever built.
#include <nexuml/registration.h>

namespace test_good {

struct Gain {
  double factor = 1.0;
  std::string mode = "plain";

  static void describe(nexuml::Schema<Gain>& s) {
    s.summary("Multiplies by a factor.");
    s.field("factor", &Gain::factor).doc("The factor.").greater_than(0);
    s.field("mode", &Gain::mode);
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

struct Ramp {
  std::int64_t length = 8;

  static void describe(nexuml::Schema<Ramp>& s) {
    s.summary("Counts up.");
    s.field("length", &Ramp::length).at_least(1);
  }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const { return nullptr; }
};

struct DemoParameters {
  double factor = 2.0;

  static void describe(nexuml::Schema<DemoParameters>& s) {
    s.summary("A gain on a ramp.");
    s.field("factor", &DemoParameters::factor);
  }
};

nexuml::ScenarioSpec demo(const DemoParameters& parameters, const nexuml::ScenarioContext&) {
  nexuml::ScenarioSpec scenario{.name = "good-demo"};
  scenario.pipeline.stages["Main"] = {{.component = Gain{.factor = parameters.factor},
                                       .keys_in = nexuml::Keys{"features"},
                                       .keys_out = {"loss"}}};
  scenario.data.source = Ramp{};
  scenario.training.loss_keys = {{"loss", 1.0}};
  return scenario;
}

}  // namespace test_good

NEXUML_LIBRARY(registry) {
  registry.add<test_good::Gain>("gain", "1");
  registry.add<test_good::Ramp>("ramp", "1");
  registry.add_scenario<test_good::DemoParameters>("good-demo", test_good::demo);
}
