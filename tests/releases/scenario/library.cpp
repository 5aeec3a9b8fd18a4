// A scenario with parameters that asks for components of other libraries by identity.
#include <nexuml/registration.h>

#include <cstdint>

namespace released {

struct Parameters {
  std::int64_t width = 8;
  std::int64_t epochs = 2;

  static void describe(nexuml::Schema<Parameters>& s) {
    s.summary("A linear autoencoder of made-up numbers.");
    s.field("width", &Parameters::width).doc("Numbers a sample.").at_least(2);
    s.field("epochs", &Parameters::epochs).at_least(1);
  }
};

nexuml::ScenarioSpec autoencoder(const Parameters& parameters, const nexuml::ScenarioContext& context) {
  using nexuml::Keys;
  nexuml::ScenarioSpec scenario;
  scenario.name = "released-autoencoder";
  scenario.pipeline.stages["Encoder"] = {
      {.component = context.layer("LinearEncoder", {{"output_dim", parameters.width / 2}}),
       .keys_in = Keys{"features"},
       .keys_out = {"latent"}}};
  scenario.pipeline.stages["Decoder"] = {
      {.component = context.layer("LinearEncoder", {{"output_dim", parameters.width}}),
       .keys_in = Keys{"latent"},
       .keys_out = {"reconstructed"}},
      {.component = context.layer("ReconstructionLoss"),
       .keys_in = Keys{"features", "reconstructed"},
       .keys_out = {"loss"}}};
  scenario.training.loss_keys = {{"loss", 1.0}};
  scenario.training.max_epochs = parameters.epochs;
  scenario.data.source =
      context.data_source("synthetic", {{"feature_shape", nexuml::Value(std::vector{parameters.width})}});
  return scenario;
}

}  // namespace released

NEXUML_LIBRARY(registry) {
  registry.add_scenario<released::Parameters>("released-autoencoder", released::autoencoder);
}
