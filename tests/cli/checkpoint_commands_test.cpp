// checkpoint show, verify and diff: on checkpoints, runs and weights files, with no library in sight.
#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/run_host.h"

namespace nexuml::test {
namespace {

const std::string cases = NEXUML_TEST_DATA "/cases/";
const std::string scenario = cases + "T09-resume-mid-epoch/scenario.yaml";
const std::string nested = cases + "L03-nested-and-foreign-objects/";

using Arguments = std::vector<std::string>;

// As on a machine that has none of the libraries that took part.
HostRun checkpoint(const TestTree& tree, Arguments arguments) {
  arguments.insert(arguments.begin(), "checkpoint");
  return run_host(tree, arguments, {"NEXUML_COMPONENT_DISABLE=*"});
}

void train_run(const TestTree& tree, const std::string& name, Arguments more = {}) {
  Arguments arguments{"train", scenario, "--run-dir", tree.path(name), "--threads", "1", "--max-epochs", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const HostRun run = run_host(tree, arguments);
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
}

void flip(const std::string& path, std::size_t at) {
  std::string bytes = read_bytes(path);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("checkpoint show tells epoch, step, libraries, files and tensors of a run and of one index") {
  const TestTree tree;
  train_run(tree, "run", {"--checkpoint-every-epochs", "1"});
  const HostRun run = checkpoint(tree, {"show", tree.path("run")});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  for (const char* part :
       {"epoch 1, step 9", "epoch 2, step 18", "scenario: case_linear_ae", "nexuml.library",
        "model.safetensors", "stages.Encoder.00_LinearEncoder.model.0.weight", "float32 [24, 32]",
        "random/cpu"})
    CHECK_THAT(run.out, Catch::Contains(part));
  const HostRun one = checkpoint(tree, {"show", tree.path("run/checkpoints/0"), "--json"});
  REQUIRE(one.exit_code == 0);
  const Value answer = one.json();
  CHECK(answer.at("about").at("epoch") == Value(1));
  CHECK(answer.at("about").at("libraries").size() > 0);
  CHECK(answer.at("files").size() >= 3);
  CHECK(answer.at("tensors").at("model").size() == 32);
  CHECK(answer.at("state").at("counters").at("global_step") == Value(9));
}

TEST_CASE("checkpoint verify reads every byte of every index, and ends with 3 where one is damaged") {
  const TestTree tree;
  train_run(tree, "run", {"--checkpoint-every-epochs", "1"});
  const HostRun whole = checkpoint(tree, {"verify", tree.path("run")});
  INFO(whole.all());
  CHECK(whole.exit_code == 0);
  const std::string weights = tree.path("run/checkpoints/1/model.safetensors");
  flip(weights, fs::file_size(weights) - 9);
  const HostRun damaged = checkpoint(tree, {"verify", tree.path("run"), "--json"});
  CHECK(damaged.exit_code == 3);
  const Value answer = damaged.json();
  CHECK(answer.at("results").items().at(0).at("whole") == Value(true));
  CHECK(answer.at("results").items().at(1).at("whole") == Value(false));
  CHECK_THAT(damaged.out, Catch::Contains("model.safetensors") && Catch::Contains("E763"));
  CHECK(checkpoint(tree, {"verify", tree.path("run/checkpoints/0")}).exit_code == 0);
}

TEST_CASE(
    "files of several chunks are shown with the number of their digests, and damage is told with its place") {
  const TestTree tree;
  const HostRun run =
      run_host(tree, {"train", scenario, "--run-dir", tree.path("run"), "--threads", "1", "--max-epochs", "1",
                      "-O", "pipeline.stages.Encoder[0].component.params.hidden_dims=[80000]"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  const HostRun shown = checkpoint(tree, {"show", tree.path("run/checkpoints/0")});
  CHECK_THAT(shown.out, Catch::Contains("2 digests, one for 8,388,608 bytes each"));
  const Value files = checkpoint(tree, {"show", tree.path("run/checkpoints/0"), "--json"}).json().at("files");
  CHECK(files.items().front().at("sha256").size() == 2);
  CHECK(checkpoint(tree, {"verify", tree.path("run")}).exit_code == 0);
  flip(tree.path("run/checkpoints/0/model.safetensors"), 9'000'000);
  const HostRun damaged = checkpoint(tree, {"verify", tree.path("run")});
  CHECK(damaged.exit_code == 3);
  CHECK_THAT(damaged.all(), Catch::Contains("its bytes changed between 8388608 and"));
}

TEST_CASE("checkpoint diff names what differs between two checkpoints, and by how much") {
  const TestTree tree;
  train_run(tree, "run", {"--checkpoint-every-epochs", "1"});
  const HostRun same =
      checkpoint(tree, {"diff", tree.path("run/checkpoints/0"), tree.path("run/checkpoints/0")});
  INFO(same.all());
  CHECK(same.exit_code == 0);
  CHECK_THAT(same.out, Catch::Contains(" 0 differ"));
  const HostRun differ =
      checkpoint(tree, {"diff", tree.path("run/checkpoints/0"), tree.path("run"), "--json"});
  INFO(differ.all());
  REQUIRE(differ.exit_code == 0);
  const Value answer = differ.json();
  REQUIRE(answer.at("tensors").size() > 0);
  const Value first = answer.at("tensors").items().front();
  CHECK(first.at("left") == first.at("right"));
  CHECK(first.at("largest").as_number() > 0);
  CHECK_THAT(differ.out, Catch::Contains("epoch: integer 1, now integer 2"));
  const HostRun others =
      checkpoint(tree, {"diff", cases + "C05-tied-tensors/tied.pt", nested + "nested.pt#model"});
  INFO(others.all());
  CHECK(others.exit_code == 0);
  CHECK_THAT(others.out, Catch::Contains("- embed.weight  float32 [4, 3]") && Catch::Contains("+ weight"));
}

TEST_CASE("checkpoint show lists the plain values and the tensors of a training checkpoint of Python") {
  const TestTree tree;
  const HostRun run = checkpoint(tree, {"show", nested + "nested.pt", "--json"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  const Value values = run.json().at("values");
  CHECK(values.at("epoch") == Value(3));
  CHECK(values.at("best") == Value(0.25));
  CHECK(values.at("tag") == Value("größe"));
  CHECK(values.at("note").is_null());
  CHECK(values.at("big") == Value("1180591620717411303424"));
  CHECK_THAT(run.out, Catch::Contains("model/weight"));
  const HostRun part = checkpoint(tree, {"show", nested + "nested.pt#model"});
  CHECK_THAT(part.out, Catch::Contains("weight  float32 [2, 2]"));
  const HostRun no_part = checkpoint(tree, {"show", nested + "nested.pt#modle"});
  CHECK(no_part.exit_code == 1);
  CHECK_THAT(no_part.err, Catch::Contains("modle"));
}

TEST_CASE("checkpoint show names skipped objects and tied tensors, and refuses what would run code") {
  const TestTree tree;
  CHECK_THAT(checkpoint(tree, {"show", nested + "namespace.pt"}).all(),
             Catch::Contains("argparse.Namespace"));
  const Value tied = checkpoint(tree, {"show", cases + "C05-tied-tensors/tied.pt", "--json"}).json();
  CHECK(tied.at("aliases").items().at(0) == Value(std::vector<std::string>{"embed.weight", "head.weight"}));
  const HostRun system = checkpoint(tree, {"show", nested + "os_system.pt"});
  CHECK(system.exit_code == 1);
  CHECK_THAT(system.err, Catch::Contains("system"));
  const HostRun module = checkpoint(tree, {"show", nested + "whole_module.pt"});
  CHECK(module.exit_code == 1);
  CHECK_THAT(module.err, Catch::Contains("Sequential") && Catch::Contains("state_dict"));
  const HostRun scripted = checkpoint(tree, {"show", cases + "L05-torchscript-file/scripted.pt"});
  CHECK(scripted.exit_code == 1);
  CHECK_THAT(scripted.err, Catch::Contains("TorchScript"));
}

TEST_CASE("checkpoint verify gives each damaged weights file its verdict, file and reason") {
  const TestTree tree;
  for (const std::string folder : {"C01-truncated-pt", "C03-safetensors-offsets"}) {
    Diagnostics problems;
    const std::string path = cases + folder + "/expected.json";
    const Value expected = parse_json(read_bytes(path), path, problems);
    for (const auto& entry : expected.entries()) {
      INFO(entry.key);
      const HostRun run = checkpoint(tree, {"verify", cases + folder + "/" + entry.key});
      const bool accepted = entry.value.at("verdict") == Value("accept");
      CHECK(run.exit_code == (accepted ? 0 : 3));
      if (accepted) continue;
      CHECK_THAT(run.err, Catch::Contains(entry.key));
      for (const Value& word : entry.value.at("must_mention").items())
        CHECK_THAT(run.err, Catch::Contains(word.as_string()));
    }
  }
}

TEST_CASE("links to weights are followed, and a broken one is told with its target") {
  const TestTree tree;
  fs::create_directories(tree.path("run/ckpts"));
  fs::copy(cases + "C11-latest-link-moved/run/ckpts/good.safetensors",
           tree.path("run/ckpts/good.safetensors"));
  const auto link = [&](const std::string& name, const std::string& target) {
    fs::create_symlink(target, tree.path("run/ckpts/" + name));
    return checkpoint(tree, {"show", tree.path("run/ckpts/" + name)});
  };
  CHECK(link("latest_rel_ok.safetensors", "good.safetensors").exit_code == 0);
  for (const auto& [name, target] :
       {std::pair("latest_abs.safetensors", "/data/run7/checkpoints/epoch=299.safetensors"),
        {"latest_wrong_base.safetensors", "run/ckpts/good.safetensors"},
        {"loop.safetensors", "loop.safetensors"}}) {
    const HostRun run = link(name, target);
    INFO(run.all());
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err, Catch::Contains(name) && Catch::Contains(target));
  }
  // On its way through a system without links.
  tree.write("run/ckpts/copied.safetensors", "run/ckpts/good.safetensors");
  const HostRun copied = checkpoint(tree, {"show", tree.path("run/ckpts/copied.safetensors")});
  CHECK(copied.exit_code == 1);
  CHECK_THAT(copied.err, Catch::Contains("'run/ckpts/good.safetensors'") && Catch::Contains("link"));
}

TEST_CASE("a checkpoint command tells a path that is missing, empty or of another kind") {
  const TestTree tree;
  for (const char* verb : {"show", "verify"}) {
    const HostRun missing = checkpoint(tree, {verb, tree.path("nowhere.pt")});
    CHECK(missing.exit_code != 0);
    CHECK_THAT(missing.err, Catch::Contains("nowhere.pt"));
    const HostRun empty = checkpoint(tree, {verb, tree.path()});
    CHECK(empty.exit_code == 1);
    CHECK_THAT(empty.err, Catch::Contains("E764"));
    const HostRun text = checkpoint(tree, {verb, scenario});
    CHECK(text.exit_code == 1);
    CHECK_THAT(text.err, Catch::Contains("E761"));
  }
  CHECK(checkpoint(tree, {"diff", tree.path()}).exit_code == 2);
}

}  // namespace nexuml::test
