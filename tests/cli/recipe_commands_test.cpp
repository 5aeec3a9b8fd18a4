// Recipes as an operator meets them: `recipe check` and `recipe build` on files.
#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;
using Catch::Contains;

namespace {

const std::string kRecipes = NEXUML_TEST_DATA "/recipes/";
const std::string kTime = "2025-03-04T05:06:07.000008+00:00";

Value expectations() {
  Diagnostics problems;
  return parse_json(read_bytes(kRecipes + "expected.json"), "expected.json", problems);
}

std::string recipe_file(const TestTree& tree, const std::string& name, const std::string& cls_path,
                        const std::string& fields) {
  tree.write(name, R"({"cls_path": ")" + cls_path + R"(", "timestamp": ")" + kTime + "\"" + fields + "}");
  return tree.path(name);
}

}  // namespace

TEST_CASE("recipes that drifted are refused before anything is built, with file, target, time and argument") {
  const TestTree tree;
  const Value expected = expectations();
  REQUIRE(expected.size() > 15);
  for (const auto& [file, expectation, position] : expected.entries()) {
    INFO(file);
    const std::string verdict = expectation.at("verdict").as_string();
    for (const char* command : {"check", "build"}) {
      const HostRun run = run_host(tree, {"recipe", command, kRecipes + file});
      INFO(run.err);
      if (verdict == "accept_or_reject") {  // Python's Sequential, whose modules are called layers here too
        CHECK(run.exit_code == 0);
        CHECK_THAT(run.out, Contains("torch.nn.Sequential"));
        continue;
      }
      if (verdict == "accept") {
        CHECK(run.exit_code == 0);
        CHECK_THAT(run.out, Contains("torch.nn.Linear"));
        continue;
      }
      CHECK(run.exit_code == 1);
      CHECK_THAT(run.err, Contains(file));
      if (const Value* words = expectation.find("must_mention"))
        for (const Value& word : words->items()) CHECK_THAT(run.err, Contains(word.as_string()));
    }
  }
}

TEST_CASE("checking a recipe says what it names and opens no library") {
  const TestTree tree;
  const HostRun run =
      run_host(tree, {"recipe", "check", kRecipes + "good.json"}, {"NEXUML_LIBTORCH=/nonexistent"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("torch.nn.Linear (module), written " + kTime));
}

TEST_CASE(
    "with --json a checked recipe is written with every default, and the same for another line ending") {
  const TestTree tree;
  const Value good = run_host(tree, {"recipe", "check", kRecipes + "good.json", "--json"}).json();
  const Value crlf = run_host(tree, {"recipe", "check", kRecipes + "bom_crlf.json", "--json"}).json();
  const Value& recipe = good.at("checked").items().at(0).at("recipe");
  CHECK(recipe.at("in_features") == Value(8));
  CHECK(recipe.at("device").is_null());
  CHECK(recipe == crlf.at("checked").items().at(0).at("recipe"));
}

TEST_CASE("a model, its optimizer and its scheduler are built from three recipes") {
  const TestTree tree;
  const std::string model = kRecipes + "good.json";
  const std::string adam = recipe_file(tree, "adam.json", "torch.optim.Adam", R"(, "lr": 0.25)");
  const std::string steps = recipe_file(tree, "steps.json", "torch.optim.lr_scheduler.SequentialLR",
                                        R"(, "milestones": [3], "schedulers": [
    {"cls_path": "torch.optim.lr_scheduler.ConstantLR", "timestamp": ")" +
                                            kTime + R"(", "factor": 0.5},
    {"cls_path": "torch.optim.lr_scheduler.CosineAnnealingLR", "timestamp": ")" +
                                            kTime + R"(", "T_max": 4}])");
  const HostRun run = run_host(tree, {"recipe", "build", model, adam, steps});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("36 parameters") && Contains("1 groups") && Contains("lr 0.125"));
}

TEST_CASE("an optimizer without a model and a scheduler without an optimizer say what has to be passed") {
  const TestTree tree;
  const std::string adam = recipe_file(tree, "adam.json", "torch.optim.Adam", "");
  CHECK_THAT(run_host(tree, {"recipe", "build", adam}).err,
             Contains("E743") && Contains("'params'") && Contains("adam.json") && Contains(kTime));
  const std::string step =
      recipe_file(tree, "step.json", "torch.optim.lr_scheduler.StepLR", R"(, "step_size": 2)");
  CHECK_THAT(run_host(tree, {"recipe", "build", step}).err, Contains("E743") && Contains("'optimizer'"));
}

TEST_CASE("a recipe inside a recipe that drifted is refused with its place") {
  const TestTree tree;
  const std::string steps = recipe_file(tree, "steps.json", "torch.optim.lr_scheduler.ChainedScheduler",
                                        R"(, "schedulers": [{"cls_path": "torch.optim.lr_scheduler.StepLR",
    "timestamp": "2024-01-01T00:00:00+00:00", "step": 3}])");
  const HostRun run = run_host(tree, {"recipe", "check", steps});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Contains("schedulers[0]") && Contains("StepLR") && Contains("2024-01-01") &&
                          Contains("no argument 'step'") && Contains("'step_size' is missing"));
}
