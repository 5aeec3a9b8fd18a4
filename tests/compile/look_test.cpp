#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "compile/fake_layers.h"

using namespace nexuml;

namespace {

ScenarioSpec autoencoder() {
  ScenarioSpec scenario{.name = "linear <autoencoder>"};
  auto loss = fake::layer(fake::ClassLoss{}, {"latent"}, {"class_loss"});
  loss.label_key = "class";
  scenario.pipeline.stages["Encoder"] = {fake::layer(fake::Dense{.size = 16}, {"features"}, {"hidden"}),
                                         fake::layer(fake::Dense{.size = 8}, {"hidden"}, {"latent"})};
  scenario.pipeline.stages["Decoder"] = {fake::layer(fake::Dense{.size = 6}, {"latent"}, {"reconstructed"})};
  scenario.pipeline.stages["Loss"] = {
      fake::layer(fake::Difference{}, {"features", "reconstructed"}, {"difference"}),
      fake::layer(fake::MeanLoss{}, {"difference"}, {"reconstruction_loss"}), loss};
  scenario.pipeline.stages["Loss"][0].keys_in = NamedKeys{{"left", "features"}, {"right", "reconstructed"}};
  scenario.training.loss_keys = {{"reconstruction_loss", 1.0}, {"class_loss", 0.5}};
  scenario.data.source = AnyDataSource(fake::Source{});
  return scenario;
}

std::shared_ptr<CompiledPipeline> compiled(const ScenarioSpec& scenario) {
  return compile(scenario, {.registry = fake::registry()});
}

}  // namespace

TEST_CASE(
    "the Mermaid diagram shows stages, layers with their modules, keys with shapes, and losses as ends") {
  const ScenarioSpec scenario = autoencoder();
  const std::string text = mermaid_diagram(*compiled(scenario), scenario);
  INFO(text);
  for (const char* part :
       {"# Pipeline Diagram", "```mermaid", "layout: elk", "flowchart TB", "classDef loss", "classDef metric",
        "classDef input", "classDef terminal", "features: [6]", "[\"Encoder (248 params)\"]",
        "00_Dense: DenseLayer (112 params)", "linear: Linear (112 params)", "n1 -->|\"hidden: [16]\"| n2",
        "n0 -->|\"features: [6]\"| n4", "reconstruction_loss x 1", "class_loss x 0.5"})
    CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("what the diagram shows follows logging.diagram") {
  ScenarioSpec scenario = autoencoder();
  scenario.logging.emplace();
  scenario.logging->diagram = DiagramSpec{.depth = 1, .direction = "LR", .show_params = false, .show_shapes = false};
  const std::string text = mermaid_diagram(*compiled(scenario), scenario);
  CHECK(text.find("flowchart LR") != std::string::npos);
  CHECK(text.find("params") == std::string::npos);
  CHECK(text.find("[16]") == std::string::npos);
  CHECK(text.find("linear: Linear") == std::string::npos);
}

TEST_CASE("the drawn diagram is well-formed XML whatever the names are") {
  const ScenarioSpec scenario = autoencoder();
  const std::string text = svg_diagram(*compiled(scenario), scenario);
  CHECK(text.starts_with("<svg xmlns="));
  CHECK(text.find("linear &lt;autoencoder&gt;") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
  // For a person who wants to look at it.
  if (const char* path = std::getenv("NEXUML_TEST_SVG")) std::ofstream(path) << text;
}

TEST_CASE("the diagram as data names every node and edge once") {
  const ScenarioSpec scenario = autoencoder();
  const Value value = diagram_value(*compiled(scenario), scenario);
  CHECK(value.at("nodes").size() == 7);
  CHECK(value.at("edges").size() == 7);
  CHECK(value.at("nodes").items()[6].at("outputs").items()[0].at("role").as_string() == "loss");
}
