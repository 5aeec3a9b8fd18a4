// Runs that are continued, interrupted or stopped early, and the replay of training references.
#include <nexuml/value.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/run_host.h"

namespace nexuml::test {
namespace {

const std::string cases = NEXUML_TEST_DATA "/cases/";
const std::string small_scenario = cases + "T09-resume-mid-epoch/scenario.yaml";

using Arguments = std::vector<std::string>;

HostRun train(const TestTree& tree, const std::string& scenario, const std::string& run,
              Arguments more = {}) {
  Arguments arguments{"train", scenario, "--run-dir", tree.path(run), "--json", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_host(tree, arguments);
}

double summary_number(const HostRun& run, const std::string& name) {
  INFO(run.all());
  const Value answer = run.json();
  REQUIRE(answer.find("summary"));
  const Value* number = answer.at("summary").find(name);
  REQUIRE(number);
  return number->as_number();
}

// The values of one column of metrics.csv.
std::vector<double> column_of(const std::string& csv, const std::string& name) {
  std::stringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto cells = [](const std::string& text) {
    std::vector<std::string> result;
    std::stringstream stream(text);
    for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
    return result;
  };
  const auto header = cells(line);
  const auto at = static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  std::vector<double> values;
  while (std::getline(lines, line)) values.push_back(std::stod(cells(line).at(at)));
  return values;
}

std::string latest_weights(const std::string& run) {
  std::string latest;
  for (int index = 0; fs::exists(run + "/checkpoints/" + std::to_string(index)); ++index)
    latest = run + "/checkpoints/" + std::to_string(index) + "/model.safetensors";
  return read_bytes(latest);
}

}  // namespace

TEST_CASE("the number of loader workers changes no bit") {
  const TestTree tree;
  REQUIRE(train(tree, small_scenario, "none").exit_code == 0);
  REQUIRE(train(tree, small_scenario, "two", {"-O", "data.loader.num_workers=2"}).exit_code == 0);
  CHECK(read_bytes(tree.path("none/metrics.csv")) == read_bytes(tree.path("two/metrics.csv")));
}

TEST_CASE("a run that is continued goes on with the same learning rates and ends with the same bits") {
  Diagnostics problems;
  const std::string expected_path = cases + "C09-resume-lr-step/expected.json";
  const Value expected = parse_json(read_bytes(expected_path), expected_path, problems);
  for (const char* scheduler : {"StepLR", "CosineAnnealingLR", "ConstantLR"}) {
    INFO(scheduler);
    const TestTree tree;
    const std::string scenario = cases + "C09-resume-lr-step/" + scheduler + ".yaml";
    REQUIRE(train(tree, scenario, "whole").exit_code == 0);
    const auto& table = expected.at("lr_tables").at(scheduler).at("lr_used_in_epoch").items();
    const auto lrs = column_of(read_bytes(tree.path("whole/metrics.csv")), "lr");
    REQUIRE(lrs.size() == table.size());
    for (std::size_t i = 0; i < lrs.size(); ++i) CHECK(lrs[i] == Approx(table[i].as_number()).epsilon(1e-6));

    for (const char* first : {"1", "3", "4"}) {
      const std::string name = std::string("parts") + first;
      REQUIRE(train(tree, scenario, name, {"--max-epochs", first}).exit_code == 0);
      const HostRun resumed =
          run_host(tree, {"train", "--resume", tree.path(name), "--max-epochs", "8", "--json"});
      INFO(resumed.all());
      REQUIRE(resumed.exit_code == 0);
      CHECK(read_bytes(tree.path(name) + "/metrics.csv") == read_bytes(tree.path("whole/metrics.csv")));
      CHECK(latest_weights(tree.path(name)) == latest_weights(tree.path("whole")));
    }
  }
}

TEST_CASE("a run is continued from a checkpoint inside an epoch with the same bits") {
  const TestTree tree;
  REQUIRE(train(tree, small_scenario, "whole").exit_code == 0);
  REQUIRE(train(tree, small_scenario, "run", {"--checkpoint-every-steps", "1"}).exit_code == 0);
  for (const int step : {1, 9, 13, 17}) {
    INFO("after step " << step);
    const std::string name = "from" + std::to_string(step);
    const HostRun resumed =
        run_host(tree, {"train", "--resume", tree.path("run/checkpoints/" + std::to_string(step - 1)),
                        "--run-dir", tree.path(name), "--json"});
    INFO(resumed.all());
    REQUIRE(resumed.exit_code == 0);
    CHECK(summary_number(resumed, "global_step") == 36);
    CHECK(latest_weights(tree.path(name)) == latest_weights(tree.path("whole")));
  }
}

TEST_CASE("recorded training runs are replayed within their tolerance") {
  const TestTree tree;
  const HostRun run = run_host(tree, {"try", NEXUML_TEST_DATA "/train", "--json", "--threads", "1"});
  INFO(run.all());
  CHECK(run.exit_code == 0);
  const Value answer = run.json();
  REQUIRE(answer.find("results"));
  CHECK(answer.at("results").size() == 2);
}

TEST_CASE("Ctrl-C ends the run after the step in progress and keeps what was reached") {
  const TestTree tree;
  const std::string command = "timeout --preserve-status -s INT 3 " + quoted(NEXUML_RUN_PATH) + " train " +
                              quoted(small_scenario) + " --run-dir " + quoted(tree.path("run")) +
                              " --max-epochs 1000000 --log-level error >/dev/null 2>" +
                              quoted(tree.path("err"));
  const int status = std::system(command.c_str());
  INFO(read_bytes(tree.path("err")));
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  Diagnostics problems;
  const Value summary = parse_json(read_bytes(tree.path("run/summary.json")), "summary.json", problems);
  REQUIRE(summary.find("interrupted"));
  CHECK(summary.at("global_step").as_integer() > 0);
  CHECK(read_bytes(tree.path("err")).find("--resume") != std::string::npos);
  const HostRun resumed =
      run_host(tree, {"train", "--resume", tree.path("run"), "--max-epochs", "1", "--json"});
  INFO(resumed.all());
  CHECK(resumed.exit_code == 0);
  CHECK(summary_number(resumed, "global_step") ==
        static_cast<double>(summary.at("global_step").as_integer()));
}

TEST_CASE("early stopping ends the run with its reason, and the best checkpoint is kept") {
  const TestTree tree;
  const HostRun run = train(tree, small_scenario, "run",
                            {"--max-epochs", "50", "-O",
                             "callbacks=[{factory: lightning.pytorch.callbacks.early_stopping:EarlyStopping, "
                             "kwargs: {monitor: val/loss, patience: 2, min_delta: 10.0}}, "
                             "{factory: lightning.pytorch.callbacks.model_checkpoint:ModelCheckpoint, "
                             "kwargs: {monitor: val/loss, save_top_k: 1}}]"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  CHECK(summary_number(run, "epochs") == 3);
  CHECK(run.json().at("summary").at("stopped").as_string().find("did not improve") != std::string::npos);
  const auto best = static_cast<int>(summary_number(run, "best_checkpoint"));
  CHECK(fs::exists(tree.path("run/checkpoints/" + std::to_string(best))));
}

TEST_CASE("a callback that watches a metric nobody gives says which there are") {
  const TestTree tree;
  const HostRun run = train(tree, small_scenario, "run",
                            {"-O",
                             "callbacks=[{factory: lightning.pytorch.callbacks:EarlyStopping, "
                             "kwargs: {monitor: val_loss}}]"});
  CHECK(run.exit_code == 1);
  CHECK(run.all().find("val_loss") != std::string::npos);
  CHECK(run.all().find("val/loss") != std::string::npos);
  CHECK_FALSE(fs::exists(tree.path("run")));
}

}  // namespace nexuml::test
