#include <nexuml/scenario.h>

#include "plugins_library/shipped_registry.h"

using namespace library_tests;
using nexuml::Value;

namespace {

Value read_yaml(const std::string& path) {
  nexuml::Diagnostics problems;
  Value value = nexuml::parse_yaml(nexuml::read_text_file(path, problems), path, problems);
  INFO(problems.to_text());
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

// The first place where two trees differ; empty where they are equal.
std::string difference(const Value& left, const Value& right, const std::string& path = "") {
  if (left == right) return {};
  if (left.is_map() && right.is_map()) {
    for (const auto& entry : left.entries()) {
      const Value* other = right.find(entry.key);
      if (!other) return path + "." + entry.key + " is missing on the right";
      if (std::string found = difference(entry.value, *other, path + "." + entry.key); !found.empty())
        return found;
    }
    for (const auto& entry : right.entries())
      if (!left.find(entry.key)) return path + "." + entry.key + " is missing on the left";
  }
  if (left.is_list() && right.is_list() && left.size() == right.size())
    for (std::size_t i = 0; i < left.size(); ++i)
      if (std::string found =
              difference(left.items()[i], right.items()[i], path + "[" + std::to_string(i) + "]");
          !found.empty())
        return found;
  return path + ": " + nexuml::describe_for_message(left) + " and " + nexuml::describe_for_message(right);
}

Value resolved(const std::string& name, const Value& parameters = Value::map()) {
  return nexuml::write(shipped_registry().scenario(name, parameters), &shipped_registry());
}

}  // namespace

TEST_CASE("scenarios registered from code equal the files that NexuML resolves") {
  const std::string name = GENERATE(
      as<std::string>{}, "cifar-resnet", "conv-ae-toycaremu", "dcase-conv-ae", "dcase-conv-cvae",
      "fashionmnist-resnet", "linear-ae-toycaremu", "mnist-resnet", "mnist-resnet-shards",
      "synthetic-conv-ae-anomaly", "synthetic-conv-cvae-anomaly", "synthetic-linear-ae-reconstruction",
      "synthetic-linear-ae-multiclass", "synthetic-linear-ae-multilabel", "synthetic-linear-ae-regression");
  CAPTURE(name);
  CHECK(difference(resolved(name),
                   read_yaml(std::string(NEXUML_TEST_DATA) + "/scenarios/" + name + ".yaml")) == "");
}

// NexuML cannot compile its own: the decoder makes one frame too few, and the losses stand before the head
// that they read.
TEST_CASE("the AudioSet scenario is NexuML's with the frames that there are and its head before its losses") {
  const Value ours = resolved("audioset-conv-ae-clshead");
  const Value theirs =
      read_yaml(std::string(NEXUML_TEST_DATA) + "/scenarios/audioset-conv-ae-clshead.uncompiled.yaml");
  for (const auto& entry : theirs.entries())
    if (entry.key != "pipeline") CHECK(difference(ours.at(entry.key), entry.value, entry.key) == "");
  const Value& stages = ours.at("pipeline").at("stages");
  std::vector<std::string> order;
  for (const auto& entry : stages.entries()) order.push_back(entry.key);
  CHECK(order == std::vector<std::string>{"Features", "Encoder", "Decoder", "Heads", "Loss"});
  for (const char* stage : {"Features", "Encoder", "Heads", "Loss"})
    CHECK(difference(stages.at(stage), theirs.at("pipeline").at("stages").at(stage), stage) == "");
  CHECK(difference(stages.at("Decoder"), theirs.at("pipeline").at("stages").at("Decoder"), "Decoder") ==
        "Decoder[0].component.params.output_shape[2]: integer 313 and integer 312");
}

TEST_CASE("the digits scenario is the same as a file and from code") {
  nexuml::Diagnostics problems;
  const auto from_file = nexuml::read<nexuml::ScenarioSpec>(
      read_yaml(std::string(NEXUML_SOURCE_ROOT) + "/examples/scenarios/digits-classifier.yaml"),
      {.names = &shipped_registry(), .restoring = &shipped_registry()}, problems);
  INFO(problems.to_text());
  REQUIRE(from_file);
  CHECK(difference(nexuml::write(*from_file, &shipped_registry()),
                   resolved("digits-classifier", Value::map({{"path", "../data/digits/digits.csv"}}))) == "");
}

TEST_CASE("parameters of a sound scenario reach the shapes that follow from them") {
  const auto scenario = shipped_registry().scenario(
      "linear-ae-toycaremu", Value::map({{"n_mels", 64}, {"clip_num_samples", 16000}, {"hop_length", 160}}));
  const Value written = nexuml::write(scenario, &shipped_registry());
  CHECK(written.at("pipeline")
            .at("stages")
            .at("Decoder")
            .items()[0]
            .at("component")
            .at("params")
            .at("output_dim") == Value(64 * 101));
  CHECK(scenario.data.input_shapes.at("waveform") == std::vector<std::int64_t>{16000});
}

TEST_CASE("parameters of a scenario reach its parts") {
  const auto scenario =
      shipped_registry().scenario("synthetic-linear-ae-multiclass",
                                  Value::map({{"num_classes", 3}, {"latent_dim", 2}, {"max_epochs", 1}}));
  CHECK(scenario.data.num_classes == 3);
  CHECK(scenario.training.max_epochs == 1);
  CHECK(scenario.data.targets.at(0).num_classes == 3);
}
