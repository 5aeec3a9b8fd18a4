// Whole runs: what a run folder holds, and that the same seed leaves the same bytes.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

namespace fs = std::filesystem;

const std::string kCases = std::string(NEXUML_TEST_DATA) + "/cases";
const std::string kBase = kCases + "/base.yaml";

Value summary_of(const std::string& run_folder) {
  Diagnostics problems;
  const std::string path = run_folder + "/summary.json";
  Value value = parse_json(read_bytes(path), path, problems);
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

}  // namespace

TEST_CASE("a run leaves scenario, provenance, metrics, summary and weights behind") {
  TestTree tree;
  const HostRun run = run_host(tree, {"train", kBase, "--run-dir", "run"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  for (const char* file : {"scenario.yaml", "provenance.json", "metrics.csv", "summary.json",
                           "checkpoints/0/manifest.json", "checkpoints/0/model.safetensors"})
    CHECK(fs::exists(tree.path(std::string("run/") + file)));
  const Value summary = summary_of(tree.path("run"));
  CHECK(summary.at("epochs") == Value(2));
  CHECK(summary.at("seed") == Value(0));
  CHECK(summary.at("test/loss").as_number() > 0);
}

TEST_CASE("two runs with one seed write the same metrics and weights, another seed writes others") {
  TestTree tree;
  for (const auto& [folder, seed] : {std::pair{"a", "3"}, {"b", "3"}, {"c", "4"}})
    REQUIRE(
        run_host(tree, {"train", kBase, "--run-dir", folder, "--seed", seed, "--threads", "1"}).exit_code ==
        0);
  for (const char* file : {"metrics.csv", "checkpoints/0/model.safetensors"}) {
    const auto bytes = [&](const char* folder) {
      return read_bytes(tree.path(std::string(folder) + "/" + file));
    };
    INFO(file);
    CHECK(bytes("a") == bytes("b"));
    CHECK(bytes("a") != bytes("c"));
  }
}

TEST_CASE("evaluate reads a run folder back and gives the same test numbers") {
  TestTree tree;
  REQUIRE(run_host(tree, {"train", kBase, "--run-dir", "run"}).exit_code == 0);
  const HostRun again = run_host(tree, {"--json", "evaluate", "run"});
  INFO(again.all());
  REQUIRE(again.exit_code == 0);
  const std::string expected = write_json(summary_of(tree.path("run")).at("test/loss"), {.indent = -1});
  CHECK_THAT(again.out, Catch::Contains(expected));
}

TEST_CASE("an existing run folder is not written over") {
  TestTree tree;
  REQUIRE(run_host(tree, {"train", kBase, "--run-dir", "run"}).exit_code == 0);
  const std::string before = read_bytes(tree.path("run/summary.json"));
  CHECK(run_host(tree, {"train", kBase, "--run-dir", "run"}).exit_code == 1);
  CHECK(read_bytes(tree.path("run/summary.json")) == before);
}

TEST_CASE("a last batch of one with batch normalisation is told before the first step") {
  TestTree tree;
  const std::string folder = kCases + "/T01-last-batch-of-one/";
  const HostRun remainder = run_host(tree, {"train", folder + "remainder_one.yaml", "--run-dir", "r"});
  CHECK(remainder.exit_code == 1);
  CHECK_THAT(remainder.err, Catch::Contains("E848") && Catch::Contains("145") && Catch::Contains("16") &&
                                Catch::Contains("BatchNorm"));
  CHECK(run_host(tree, {"train", folder + "batch_size_one.yaml", "--run-dir", "b"}).exit_code == 1);
  CHECK(run_host(tree, {"train", folder + "no_batchnorm.yaml", "--run-dir", "n"}).exit_code == 0);
}

TEST_CASE("the loss over a test set does not depend on the batch size") {
  TestTree tree;
  const std::string folder = kCases + "/T05-uneven-batch-mean/";
  for (const char* file : {"eval_batch_1", "eval_batch_7", "eval_batch_16", "eval_batch_31"}) {
    const HostRun run =
        run_host(tree, {"train", folder + file + ".yaml", "--run-dir", file}, {"NEXUML_DATA_ROOT=" + folder});
    INFO(run.all());
    REQUIRE(run.exit_code == 0);
    CHECK(summary_of(tree.path(file)).at("test/loss").as_number() == Approx(1.318917).epsilon(1e-6));
  }
}

TEST_CASE("a device that is not there is a clear error") {
  TestTree tree;
  const HostRun run = run_host(tree, {"train", kBase, "--run-dir", "run", "-O", "training.accelerator=cuda"});
  if (run.exit_code == 0) return;  // a machine with the device
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("cuda") || Catch::Contains("CUDA"));
  CHECK_FALSE(fs::exists(tree.path("run")));
}
