// What callbacks record reaches the files of the run, and how progress is shown follows the scenario.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const std::string base_scenario = std::string(NEXUML_TEST_DATA) + "/cases/base.yaml";

HostRun train_with(const TestTree& tree, const std::string& callbacks,
                   const std::vector<std::string>& environment = {}) {
  return run_host(tree, {"train", base_scenario, "--run-dir", "run", "-O", "callbacks=" + callbacks},
                  environment);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::ptrdiff_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("rates of epochs stand in metrics.csv, those of steps in steps.csv with a row a step") {
  TestTree tree;
  const HostRun run = train_with(
      tree,
      "[{factory: 'lightning.pytorch.callbacks:LearningRateMonitor', kwargs: {logging_interval: epoch}}, "
      "{factory: 'lightning.pytorch.callbacks:LearningRateMonitor', kwargs: {logging_interval: step, "
      "log_momentum: true}}]");
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(first_line(read_bytes(tree.path("run/metrics.csv"))), Catch::Contains(",lr-Adam"));
  const std::string steps = read_bytes(tree.path("run/steps.csv"));
  CHECK(first_line(steps) == "step,lr-Adam,lr-Adam-momentum");
  Diagnostics problems;
  const Value summary = parse_json(read_bytes(tree.path("run/summary.json")), "summary.json", problems);
  CHECK(lines_in(steps) == summary.at("global_step").as_integer() + 1);
}

TEST_CASE("a run that was continued has each row of steps.csv once") {
  TestTree tree;
  const std::string monitor =
      "callbacks=[{factory: 'lightning.pytorch.callbacks:LearningRateMonitor', kwargs: {logging_interval: "
      "step}}]";
  REQUIRE(run_host(tree, {"train", base_scenario, "--run-dir", "whole", "-O", monitor}).exit_code == 0);
  REQUIRE(run_host(tree, {"train", base_scenario, "--run-dir", "parts", "-O", monitor, "--max-epochs", "1"})
              .exit_code == 0);
  REQUIRE(run_host(tree, {"train", "--resume", "parts", "--max-epochs", "2"}).exit_code == 0);
  CHECK(read_bytes(tree.path("parts/steps.csv")) == read_bytes(tree.path("whole/steps.csv")));
}

TEST_CASE("without a callback that records steps there is no steps.csv") {
  TestTree tree;
  REQUIRE(train_with(tree, "[]").exit_code == 0);
  CHECK(read_bytes(tree.path("run/steps.csv")).empty());
}

TEST_CASE("a forced terminal draws the bar in its style, and NO_COLOR takes the style away") {
  const std::string bar =
      "[{factory: 'lightning.pytorch.callbacks:RichProgressBar', kwargs: {refresh_rate: 1, leave: true, "
      "theme: {progress_bar: red, metrics_format: .2f}, console_kwargs: {force_terminal: true}}}]";
  TestTree tree;
  const HostRun run = train_with(tree, bar, {"NO_COLOR="});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.err, Catch::Contains("\r\033[Kepoch 1/2 [\033[31m=") && Catch::Contains("/s"));
  TestTree plain;
  const HostRun without = train_with(plain, bar, {"NO_COLOR=1"});
  CHECK_THAT(without.err, Catch::Contains("\r\033[Kepoch 1/2 [=") && !Catch::Contains("\033[31m"));
}

TEST_CASE("a refresh rate of zero shows no progress") {
  TestTree tree;
  const HostRun run = train_with(
      tree, "[{factory: 'lightning.pytorch.callbacks:RichProgressBar', kwargs: {refresh_rate: 0}}]");
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.err, !Catch::Contains("epoch 1/2"));
  TestTree with;
  CHECK_THAT(train_with(with, "[]").err, Catch::Contains("epoch 1/2"));
}

TEST_CASE("a loss that ceases to be a number is told with its epoch, and so in the report") {
  TestTree tree;
  const HostRun run = run_host(
      tree, {"train", base_scenario, "--run-dir", "run", "-O", "training.lr=1e30", "--max-epochs", "3"});
  INFO(run.all());
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Catch::Contains("W841") && Catch::Contains("from epoch"));
  CHECK_THAT(read_bytes(tree.path("run/report.html")), Catch::Contains("no finite number"));
  CHECK(run.err.find("W841") == run.err.rfind("W841"));  // once
}
