// `checkpoint.source`: weights that a scenario begins with.
#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/run_host.h"

namespace nexuml::test {
namespace {

const std::string cases = NEXUML_TEST_DATA "/cases/";

// Trains one epoch of the scenario of a case with these weights.
HostRun begin_with(const TestTree& tree, const std::string& case_folder, const std::string& source,
                   std::vector<std::string> more = {}) {
  static int count = 0;
  std::vector<std::string> arguments{"train",
                                     cases + case_folder + "/scenario.yaml",
                                     "--run-dir",
                                     tree.path("run" + std::to_string(count++)),
                                     "--json",
                                     "--threads",
                                     "1",
                                     "--max-epochs",
                                     "1",
                                     "-O",
                                     "checkpoint.source=" + source};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_host(tree, arguments);
}

std::string message(const HostRun& run, const std::string& code) {
  const Value answer = run.json();
  if (const Value* diagnostics = answer.find("diagnostics"))
    for (const Value& entry : diagnostics->items())
      if (entry.at("code") == Value(code)) return entry.at("message").as_string();
  return {};
}

}  // namespace

TEST_CASE("damaged and foreign weights are refused with file, size and kind before anything is trained") {
  const TestTree tree;
  const std::string folder = "C01-truncated-pt";
  CHECK_THAT(message(begin_with(tree, folder, "good.pt"), "W765"), Catch::Contains("32 tensors loaded"));
  const std::vector<std::pair<std::string, std::string>> damaged{{"truncated_half.pt", "cut off"},
                                                                 {"truncated_tail.pt", "cut off"},
                                                                 {"empty.pt", "empty"},
                                                                 {"html.pt", "HTML"},
                                                                 {"flipped_byte.pt", "data/0"}};
  for (const auto& [file, kind] : damaged) {
    const HostRun run = begin_with(tree, folder, file);
    INFO(run.all());
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.out, Catch::Contains(file) && Catch::Contains(kind));
  }
}

TEST_CASE(
    "weights from wrapped, compiled and Lightning modules load, and the run says which prefix was removed") {
  const TestTree tree;
  for (const auto& [file, prefix] : {std::pair("ddp.pt", "module."),
                                     {"compiled.pt", "_orig_mod."},
                                     {"ddp_compiled.pt", "module._orig_mod."},
                                     {"compiled_ddp.pt", "_orig_mod.module."},
                                     {"lightning.pt", "pipeline."},
                                     {"inner_compiled.pt", "_orig_mod."},
                                     {"half_prefixed.pt", "module."}}) {
    const HostRun run = begin_with(tree, "C07-wrapper-prefixes", file);
    INFO(file << run.all());
    CHECK(run.exit_code == 0);
    CHECK_THAT(message(run, "W765"),
               Catch::StartsWith("32 tensors loaded; taken out: ") && Catch::Contains(prefix));
  }
}

TEST_CASE(
    "names of another nesting are refused with both lists and the nearest names, and transposed shapes as "
    "such") {
  const TestTree tree;
  const std::string folder = "L07-naming-mismatch";
  for (const char* file : {"extra_level.pt", "short_names.pt"}) {
    const HostRun run = begin_with(tree, folder, file);
    INFO(run.all());
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.out, Catch::Contains("32 tensors of the pipeline are missing") &&
                            Catch::Contains("32 tensors of the file belong to no parameter") &&
                            Catch::Contains("and 22 more") && Catch::Contains(" may be "));
  }
  const HostRun transposed = begin_with(tree, folder, "transposed_weight.pt");
  CHECK(transposed.exit_code == 1);
  CHECK_THAT(transposed.out, Catch::Contains("stages.Encoder.00_LinearEncoder.model.0.weight") &&
                                 Catch::Contains("[24, 32]") && Catch::Contains("[32, 24]") &&
                                 Catch::Contains("transposed?"));
}

TEST_CASE("a Lightning checkpoint, a run folder and one of its checkpoints give their weights") {
  const TestTree tree;
  const std::string folder = "C07-wrapper-prefixes";
  const std::string lightning = cases + "L03-nested-and-foreign-objects/lightning_like.ckpt";
  CHECK_THAT(message(begin_with(tree, folder, lightning), "W765"),
             Catch::StartsWith("32 tensors loaded; taken out: pipeline."));
  CHECK_THAT(message(begin_with(tree, folder, lightning + "#state_dict"), "W765"),
             Catch::StartsWith("32 tensors loaded"));
  const HostRun first = begin_with(tree, folder, "ddp.pt");
  const std::string run = first.json().at("run_folder").as_string();
  for (const std::string& source : {run, run + "/checkpoints/0", run + "/checkpoints/0/model.safetensors"})
    CHECK(message(begin_with(tree, folder, source), "W765") == "32 tensors loaded");
}

TEST_CASE("frozen weights of a source stay frozen in a run that is continued, when the source is gone") {
  const TestTree tree;
  fs::copy(cases + "C07-wrapper-prefixes", tree.path("case"));
  const std::string scenario = tree.path("case/scenario.yaml");
  const std::vector<std::string> common{"--threads", "1",
                                        "-O",        "checkpoint.freeze_loaded=true",
                                        "-O",        "checkpoint.allow_missing=true",
                                        "-O",        "checkpoint.include=['stages.Encoder.*']"};
  const auto train = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    const HostRun run = run_host(tree, arguments);
    INFO(run.all());
    REQUIRE(run.exit_code == 0);
  };
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), common.begin(), common.end());
    return arguments;
  };
  train(with({scenario, "--run-dir", tree.path("whole"), "--max-epochs", "3"}));
  train(with({scenario, "--run-dir", tree.path("parts"), "--max-epochs", "1"}));
  fs::remove(tree.path("case/ddp.pt"));
  train({"--resume", tree.path("parts"), "--max-epochs", "3"});
  const bool same = read_bytes(tree.path("parts/checkpoints/1/model.safetensors")) ==
                    read_bytes(tree.path("whole/checkpoints/0/model.safetensors"));
  CHECK(same);
}

}  // namespace nexuml::test
