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

// Not compared by Catch, which would print the bytes.
bool same_bytes(const std::string& left, const std::string& right) {
  return read_bytes(left) == read_bytes(right);
}

std::string latest_checkpoint(const std::string& run) {
  int latest = -1;
  for (const auto& entry : fs::directory_iterator(run + "/checkpoints"))
    latest = std::max(latest, std::atoi(entry.path().filename().c_str()));
  return run + "/checkpoints/" + std::to_string(latest);
}

std::string latest_weights(const std::string& run) {
  return latest_checkpoint(run) + "/model.safetensors";
}

HostRun resume(const TestTree& tree, const std::string& from, Arguments more = {}) {
  Arguments arguments{"train", "--resume", tree.path(from), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_host(tree, arguments);
}

// The small scenario, whose encoder has batch normalisation, with dropout behind the latent space.
std::string with_dropout(const TestTree& tree) {
  std::string text = read_bytes(small_scenario);
  const std::string noise =
      "    Noise:\n"
      "    - component: {type: NnModule, version: '1', params: {factory: 'torch.nn:Dropout', kwargs: {p: "
      "0.3}}}\n"
      "      keys_in: [latent]\n"
      "      keys_out: [noisy]\n";
  const auto decoder = text.find("    Decoder:\n");
  const auto reads = text.find("keys_in: [latent]", decoder);
  text.replace(reads, 17, "keys_in: [noisy]");
  text.insert(decoder, noise);
  return tree.write("dropout.yaml", text);
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
  for (const char* scheduler :
       {"StepLR", "ExponentialLR", "MultiStepLR", "CosineAnnealingLR", "LinearLR", "ConstantLR"}) {
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
      // Weights, and moments with the optimizer's step counter.
      for (const char* file : {"model.safetensors", "trainer.safetensors"})
        CHECK(same_bytes(latest_checkpoint(tree.path(name)) + "/" + file,
                         latest_checkpoint(tree.path("whole")) + "/" + file));
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
    CHECK(summary_number(resumed, "threads") == 1);  // those of the first part
    CHECK(summary_number(resumed, "global_step") == 36);
    CHECK(same_bytes(latest_weights(tree.path(name)), latest_weights(tree.path("whole"))));
  }
}

TEST_CASE(
    "a run with dropout, batch normalisation and shuffling ends with the same bytes wherever it was "
    "stopped") {
  const TestTree tree;
  const std::string scenario = with_dropout(tree);
  const HostRun whole = train(tree, scenario, "whole");
  REQUIRE(whole.exit_code == 0);
  REQUIRE(train(tree, scenario, "run", {"--checkpoint-every-steps", "1", "--async-checkpoints"}).exit_code ==
          0);
  CHECK(same_bytes(latest_weights(tree.path("run")),
                   latest_weights(tree.path("whole"))));  // saving changes nothing
  for (const int step : {2, 13, 17, 26}) {
    INFO("after step " << step);
    const std::string name = "from" + std::to_string(step);
    const HostRun resumed =
        resume(tree, "run/checkpoints/" + std::to_string(step - 1), {"--run-dir", tree.path(name)});
    INFO(resumed.all());
    REQUIRE(resumed.exit_code == 0);
    for (const char* file : {"model.safetensors", "trainer.safetensors"})
      CHECK(same_bytes(latest_checkpoint(tree.path(name)) + "/" + file,
                       latest_checkpoint(tree.path("whole")) + "/" + file));
    CHECK(summary_number(resumed, "test/loss") == summary_number(whole, "test/loss"));
  }
}

TEST_CASE("a run folder that was moved, copied or packed goes on from its newest checkpoint") {
  const TestTree tree;
  REQUIRE(train(tree, small_scenario, "whole", {"--max-epochs", "2"}).exit_code == 0);
  REQUIRE(train(tree, small_scenario, "run", {"--max-epochs", "1"}).exit_code == 0);
  const std::string before = tree.path("run");
  for (const auto& entry : fs::recursive_directory_iterator(before + "/checkpoints"))
    if (entry.is_regular_file())
      CHECK(read_bytes(entry.path().string()).find(tree.path()) == std::string::npos);
  const std::string in_tree = "cd " + quoted(tree.path()) + " && ";
  for (const std::string command : {"cp -r run copied", "cp -rL run followed",
                                    "tar cf run.tar run && mkdir packed && tar xf run.tar -C packed "
                                    "--strip-components=1",
                                    "mv run moved"}) {
    INFO(command);
    REQUIRE(std::system((in_tree + command).c_str()) == 0);
    const std::string place = command.starts_with("cp -r ")    ? "copied"
                              : command.starts_with("cp -rL ") ? "followed"
                              : command.starts_with("tar ")    ? "packed"
                                                               : "moved";
    const HostRun resumed = resume(tree, place, {"--max-epochs", "2"});
    INFO(resumed.all());
    REQUIRE(resumed.exit_code == 0);
    CHECK(same_bytes(latest_weights(tree.path(place)), latest_weights(tree.path("whole"))));
  }
}

TEST_CASE("a resumed run obeys another learning rate, scheduler and optimizer, and says what changed") {
  const TestTree tree;
  const std::string steps = cases + "C09-resume-lr-step/StepLR.yaml";  // 0.1, halved every 2 epochs
  REQUIRE(train(tree, steps, "run", {"--max-epochs", "3"}).exit_code == 0);
  const auto lrs_after = [&](const std::string& name, Arguments more) {
    more.insert(more.end(), {"--run-dir", tree.path(name), "--max-epochs", "6"});
    const HostRun resumed = resume(tree, "run", more);
    INFO(resumed.all());
    REQUIRE(resumed.exit_code == 0);
    CHECK_THAT(resumed.out, Catch::Contains("W766"));
    CHECK_THAT(resumed.out, Catch::Contains("W767"));
    return column_of(read_bytes(tree.path(name) + "/metrics.csv"), "lr");
  };
  const auto close_to = [](const std::vector<double>& lrs, const std::vector<double>& expected) {
    REQUIRE(lrs.size() == expected.size());
    for (std::size_t i = 0; i < lrs.size(); ++i) CHECK(lrs[i] == Approx(expected[i]).epsilon(1e-9));
  };
  close_to(lrs_after("lr", {"-O", "training.lr=0.4"}), {0.2, 0.1, 0.1});
  close_to(
      lrs_after(
          "exponential",
          {"-O",
           "training.scheduler={factory: torch.optim.lr_scheduler:ExponentialLR, kwargs: {gamma: 0.5}}"}),
      {0.1 / 8, 0.1 / 16, 0.1 / 32});
  close_to(lrs_after("optimizer",
                     {"-O", "training.optimizer={factory: torch.optim:SGD, kwargs: {momentum: 0.9}}"}),
           {0.05, 0.025, 0.025});
}

TEST_CASE("a library that was built again since a checkpoint is named when it is resumed from") {
  const TestTree tree;
  REQUIRE(train(tree, small_scenario, "run", {"--max-epochs", "1"}).exit_code == 0);
  const std::string path = tree.path("run/checkpoints/0/manifest.json");
  Diagnostics problems;
  Value manifest = parse_json(read_bytes(path), path, problems);
  Value* libraries = manifest.at("about").is_map() ? manifest.find("about")->find("libraries") : nullptr;
  REQUIRE(libraries);
  for (Value& library : libraries->items()) library.set("build_id", "0123");
  // The manifest vouches for itself with a digest of the rest.
  manifest.erase("sha256");
  const std::string rest = tree.write("rest", write_json(manifest)), digest = tree.path("digest");
  REQUIRE(std::system(("sha256sum " + quoted(rest) + " | cut -c1-64 >" + quoted(digest)).c_str()) == 0);
  manifest.set("sha256", read_bytes(digest).substr(0, 64));
  std::ofstream(path, std::ios::trunc) << write_json(manifest) << "\n";
  const HostRun resumed = resume(tree, "run", {"--max-epochs", "2"});
  INFO(resumed.all());
  CHECK(resumed.exit_code == 0);
  CHECK_THAT(resumed.out, Catch::Contains("W768") && Catch::Contains("another build of nexuml.torch"));
}

TEST_CASE("a run of format 1 is verified, shown and continued") {
  const TestTree tree;
  fs::copy(NEXUML_TEST_DATA "/checkpoints/format-1", tree.path("run"), fs::copy_options::recursive);
  const HostRun verified = run_host(tree, {"checkpoint", "verify", tree.path("run")});
  INFO(verified.all());
  CHECK(verified.exit_code == 0);
  const HostRun run = resume(tree, "run", {"--max-epochs", "2"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  CHECK(summary_number(run, "global_step") == 18);
  CHECK(fs::exists(tree.path("run/checkpoints/1")));
}

TEST_CASE("a checkpoint whose folder has no number is told, not taken for one") {
  const TestTree tree;
  REQUIRE(train(tree, small_scenario, "run", {"--max-epochs", "1"}).exit_code == 0);
  fs::copy(tree.path("run/checkpoints/0"), tree.path("run/checkpoints/latest"));
  const HostRun resumed = resume(tree, "run/checkpoints/latest");
  CHECK(resumed.exit_code == 1);
  CHECK_THAT(resumed.out, Catch::Contains("E764") && Catch::Contains("'latest' is no index"));
}

TEST_CASE("a batch size that changes inside an epoch is refused, between two epochs it is obeyed") {
  const TestTree tree;
  REQUIRE(
      train(tree, small_scenario, "run", {"--checkpoint-every-steps", "1", "--max-epochs", "1"}).exit_code ==
      0);
  const HostRun inside =
      resume(tree, "run/checkpoints/3", {"--run-dir", tree.path("inside"), "-O", "training.batch_size=32"});
  CHECK(inside.exit_code == 1);
  CHECK_THAT(inside.out, Catch::Contains("E842") && Catch::Contains("seen twice"));
  CHECK_FALSE(fs::exists(tree.path("inside")));
  const HostRun between = resume(
      tree, "run", {"--run-dir", tree.path("between"), "-O", "training.batch_size=32", "--max-epochs", "2"});
  INFO(between.all());
  CHECK(between.exit_code == 0);
}

TEST_CASE("keep-last, keep-every and keep-best leave the checkpoints that they name, also over a resume") {
  const TestTree tree;
  const Arguments rules{
      "--checkpoint-every-epochs", "1", "--keep-checkpoints", "2", "--keep-every", "4", "--keep-best", "1"};
  const auto kept = [&](const std::string& name) {
    std::vector<std::string> epochs;
    for (const auto& entry : fs::directory_iterator(tree.path(name) + "/checkpoints")) {
      Diagnostics problems;
      const std::string path = entry.path() / "manifest.json";
      epochs.push_back(
          write_json(parse_json(read_bytes(path), path, problems).at("about").at("epoch"), {.indent = -1}));
    }
    std::sort(epochs.begin(), epochs.end());
    return epochs;
  };
  Arguments whole = rules;
  whole.insert(whole.end(), {"--max-epochs", "9"});
  REQUIRE(train(tree, small_scenario, "whole", whole).exit_code == 0);
  // The last of them is the one of the end of the run.
  CHECK(kept("whole") == std::vector<std::string>{"4", "8", "9", "9"});
  REQUIRE(train(tree, small_scenario, "parts", {"--checkpoint-every-epochs", "1", "--max-epochs", "5"})
              .exit_code == 0);
  Arguments rest = rules;
  rest.insert(rest.end(), {"--max-epochs", "9"});
  REQUIRE(resume(tree, "parts/checkpoints/4", rest).exit_code == 0);
  CHECK(kept("parts") == std::vector<std::string>{"4", "5", "8", "9", "9"});  // 5: the end of the first part
  const HostRun by_steps =
      train(tree, small_scenario, "bad", {"--checkpoint-every-steps", "1", "--keep-best", "1"});
  CHECK(by_steps.exit_code == 1);
  CHECK_THAT(by_steps.out, Catch::Contains("--checkpoint-every-epochs"));
}

TEST_CASE("recorded training runs are replayed within their tolerance") {
  const TestTree tree;
  const HostRun run = run_host(tree, {"try", NEXUML_TEST_DATA "/train", "--json", "--threads", "1"});
  INFO(run.all());
  CHECK(run.exit_code == 0);
  const Value answer = run.json();
  REQUIRE(answer.find("results"));
  CHECK(answer.at("results").size() == 3);
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
