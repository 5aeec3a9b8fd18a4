// Libraries that fail while they are opened: harmless where nobody asks for them, and an error with a code where
// a scenario does.
#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

// A scenario whose layers are those that `layers` names, in the place of a loss.
std::string write_scenario(const TestTree& tree, const std::vector<std::string>& layers) {
  std::string text = read_bytes(NEXUML_TEST_DATA "/cases/R01-duplicate-identity/scenario.yaml");
  const auto begin = text.find("    - component:\n        type: focal_loss"),
             end = text.find("training:", begin);
  const std::string entry = text.substr(begin, end - begin);
  std::string entries;
  for (const auto& layer : layers) {
    std::string one = entry;
    one.replace(one.find("focal_loss"), std::string("focal_loss").size(), layer);
    const std::string key = "[reconstruction_loss]";
    if (&layer != &layers.front()) one.replace(one.find(key), key.size(), "[second_loss]");
    entries += one;
  }
  return tree.write("scenario.yaml", text.replace(begin, end - begin, entries));
}

std::vector<std::string> with_roots(std::vector<std::string> arguments,
                                    const std::vector<std::string>& roots) {
  for (const auto& root : roots) arguments.insert(arguments.end(), {"--root", root});
  return arguments;
}

HostRun train(const TestTree& tree, const std::string& scenario, const std::vector<std::string>& roots,
              const std::vector<std::string>& environment = {}) {
  return run_host(tree, with_roots({"train", scenario, "--max-epochs", "1", "--run-dir", "run"}, roots),
                  environment);
}

}  // namespace

TEST_CASE("a shipped scenario trains beside libraries that abort and throw: nobody asks for them") {
  TestTree tree;
  const HostRun run =
      train(tree, "synthetic-linear-ae-reconstruction",
            {TestTree::fixture_root("abort_in_static_init"), TestTree::fixture_root("throws")});
  INFO(run.all());
  CHECK(run.exit_code == 0);
}

TEST_CASE(
    "a scenario that uses a component of a library that throws while it registers ends with its words") {
  TestTree tree;
  const std::string scenario = write_scenario(tree, {"licensed"});
  const std::vector<std::string> roots{TestTree::fixture_root("needs_a_licence")};
  CHECK(run_host(tree, with_roots({"resolve", scenario}, roots), {"NEXUML_TEST_EXPIRED=1"}).exit_code == 0);
  const HostRun run = train(tree, scenario, roots, {"NEXUML_TEST_EXPIRED=1"});
  INFO(run.all());
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("E407") && Catch::Contains("the licence has expired") &&
                          Catch::Contains("test.needs_a_licence"));
}

TEST_CASE("a scenario that uses a component of a library that does not open ends with what is missing") {
  TestTree tree;
  tree.copy_fixture("brings_a_library", "root");
  fs::remove(tree.path("root/test.brings_a_library/libtest_private.so"));
  const HostRun run = train(tree, write_scenario(tree, {"brought_7"}), {tree.path("root")});
  INFO(run.all());
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("E403") && Catch::Contains("libtest_private.so") &&
                          Catch::Contains("which was searched: " + tree.path("root/test.brings_a_library")));
}

TEST_CASE("of two versions that register the same operators one is opened, and the other is shadowed") {
  TestTree tree;
  const HostRun run = run_host(tree, with_roots({"doctor"}, {TestTree::fixture_root("operators_a"),
                                                             TestTree::fixture_root("operators_a_2")}));
  INFO(run.all());
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Catch::Contains("OK     test.operators_a") && Catch::Contains("shadowed"));
  CHECK_THAT(run.out, Catch::Contains("no problems"));
}

TEST_CASE(
    "two libraries that register the same operators are each fine, and together an error in LibTorch's "
    "words") {
  TestTree tree;
  const std::vector<std::string> roots{TestTree::fixture_root("operators_a"),
                                       TestTree::fixture_root("operators_b")};
  const HostRun doctor = run_host(tree, with_roots({"doctor"}, roots));
  INFO(doctor.all());
  CHECK(doctor.exit_code == 0);
  CHECK_THAT(doctor.out,
             Catch::Contains("OK     test.operators_a") && Catch::Contains("OK     test.operators_b"));

  const HostRun run = train(tree, write_scenario(tree, {"operators_a", "operators_b"}), roots);
  INFO(run.all());
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("E405") && Catch::Contains("Only a single TORCH_LIBRARY") &&
                          Catch::Contains("nexuml_ops") && Catch::Contains("test.operators_b") &&
                          !Catch::Contains("frame #"));
}

TEST_CASE("validate advises against operators under a namespace without a version") {
  TestTree tree;
  const HostRun run = run_host(tree, {"validate", TestTree::fixture_root("operators_a")});
  INFO(run.all());
  CHECK_THAT(run.all(), Catch::Contains("W606") && Catch::Contains("opens and registers what it declares"));
}
