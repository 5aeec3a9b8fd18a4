// LearningRateMonitor, DeviceStatsMonitor and RichProgressBar: each argument of Lightning's does what it
// says.
#include <nexuml/training.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "callbacks/system_load.h"
#include "plugins_torch/given_training.h"

using nexuml::OrderedMap;
using nexuml::Value;
using torch_tests::callback;
using torch_tests::GivenTraining;
using torch_tests::refusal;

namespace {

const std::string rates = "lr_monitor:LearningRateMonitor", stats = "device_stats_monitor:DeviceStatsMonitor",
                  bar = "progress.rich_progress:RichProgressBar";

std::vector<std::string> names_of(const OrderedMap<double>& numbers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : numbers) names.push_back(name);
  return names;
}

nexuml::ProgressStyle style_of(const Value& kwargs) {
  nexuml::ProgressStyle style;
  callback(bar, kwargs, {.progress = &style});
  return style;
}

}  // namespace

TEST_CASE("LearningRateMonitor writes the rate of the epoch, or of each step where it is asked to") {
  GivenTraining training({{.parameters = {}, .lr = 0.25}});
  const auto by_epoch = callback(rates, Value::map({{"logging_interval", "epoch"}}),
                                 {.optimizer = "SGD", .scheduler_every_step = true});
  by_epoch->train_epoch_start(training);
  training.take_batch(*by_epoch);
  CHECK(training.recorded == OrderedMap<double>{{"lr-SGD", 0.25}});
  CHECK(training.step_recorded.empty());

  training.recorded.clear();
  const auto by_step = callback(rates, Value::map({{"logging_interval", "step"}}), {.optimizer = "SGD"});
  by_step->train_epoch_start(training);
  training.take_batch(*by_step);
  CHECK(training.recorded.empty());
  CHECK(training.step_recorded == OrderedMap<double>{{"lr-SGD", 0.25}});
}

TEST_CASE("LearningRateMonitor without an interval follows the scheduler's") {
  GivenTraining training;
  const auto steps = callback(rates, Value::map(), {.optimizer = "Adam", .scheduler_every_step = true});
  steps->train_epoch_start(training);
  training.take_batch(*steps);
  CHECK(names_of(training.step_recorded) == std::vector<std::string>{"lr-Adam"});
  CHECK(training.recorded.empty());
  const auto epochs = callback(rates, Value::map(), {.optimizer = "Adam"});
  epochs->train_epoch_start(training);
  CHECK(names_of(training.recorded) == std::vector<std::string>{"lr-Adam"});
}

TEST_CASE("LearningRateMonitor tells momentum and weight decay of each group, where it is asked to") {
  GivenTraining training({{.parameters = {}, .lr = 0.1, .momentum = 0.9, .weight_decay = 0.01},
                          {.parameters = {}, .lr = 0.2, .momentum = 0.8}});
  const auto all =
      callback(rates, Value::map({{"log_momentum", true}, {"log_weight_decay", true}}), {.optimizer = "SGD"});
  all->train_epoch_start(training);
  CHECK(training.recorded == OrderedMap<double>{{"lr-SGD/pg1", 0.1},
                                                {"lr-SGD-momentum/pg1", 0.9},
                                                {"lr-SGD-weight_decay/pg1", 0.01},
                                                {"lr-SGD/pg2", 0.2},
                                                {"lr-SGD-momentum/pg2", 0.8}});
}

TEST_CASE("a momentum that the optimizer does not have is told, not written as zero") {
  GivenTraining training;
  nexuml::Diagnostics advice;
  const auto monitor =
      callback(rates, Value::map({{"log_momentum", true}}), {.optimizer = "Adagrad", .advice = &advice});
  monitor->fit_start(training);
  REQUIRE(advice.size() == 1);
  CHECK(advice.entries().front().code == "W847");
  CHECK_THAT(advice.entries().front().message, Catch::Contains("log_momentum"));
  monitor->train_epoch_start(training);
  CHECK(names_of(training.recorded) == std::vector<std::string>{"lr-Adagrad"});
}

TEST_CASE("optimizers show their momentum and weight decay to whoever watches") {
  const auto group_of = [](const std::string& name, const Value& kwargs) {
    return library_tests::shipped_registry()
        .make<nexuml::TargetKind::optimizer>("torch.optim:" + name, Value::list(), kwargs)
        ->build({})
        ->groups()
        .front();
  };
  const auto sgd = group_of("SGD", Value::map({{"lr", 0.1}, {"momentum", 0.9}, {"weight_decay", 0.5}}));
  CHECK(sgd.momentum == 0.9);
  CHECK(sgd.weight_decay == 0.5);
  for (const char* name : {"Adam", "AdamW", "NAdam", "RAdam", "Adamax"}) {
    INFO(name);
    CHECK(group_of(name, Value::map({{"weight_decay", 0.25}})).momentum == 0.9);
    CHECK(group_of(name, Value::map({{"weight_decay", 0.25}})).weight_decay == 0.25);
  }
  CHECK(group_of("RMSprop", Value::map({{"momentum", 0.5}})).momentum == 0.5);
  CHECK_FALSE(group_of("Adagrad", Value::map()).momentum);
}

TEST_CASE("DeviceStatsMonitor writes processors and memory of a run on the CPU, unless it is told not to") {
  const std::string prefix = "DeviceStatsMonitor.on_train_batch_end/";
  GivenTraining training;
  const auto monitor = callback(stats, Value::map());
  monitor->train_epoch_start(training);
  training.take_batch(*monitor);
  CHECK(training.step_recorded.at(prefix + "process_memory_mib") > 10);
  for (const char* name : {"cpu_vm_percent", "cpu_swap_percent"}) {
    CHECK(training.step_recorded.at(prefix + name) >= 0);
    CHECK(training.step_recorded.at(prefix + name) <= 100);
  }
  CHECK(monitor->results().at("peak_memory_mib") > 10);
  training.take_batch(*monitor);
  CHECK(training.step_recorded.empty());  // less than a tenth of a second later
  while (training.batch() + 1 < training.num_batches()) training.take_batch(*monitor);
  training.take_batch(*monitor);
  CHECK_FALSE(training.step_recorded.empty());  // the last of the epoch

  GivenTraining silent;
  const auto without = callback(stats, Value::map({{"cpu_stats", false}}));
  without->train_epoch_start(silent);
  silent.take_batch(*without);
  CHECK(silent.step_recorded.empty());
}

TEST_CASE("the load of the processors is the share of ticks that were not idle") {
  using namespace nexuml_torch;
  const auto before = cpu_times_in("cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3 4\n");
  const auto after = cpu_times_in("cpu  160 0 90 900 100 0 0 0 9 0\n");
  REQUIRE((before && after));
  CHECK(before->total == 1000);
  CHECK(busy_percent(*before, *after) == Approx(40));
  CHECK_FALSE(busy_percent(*before, *before));
  CHECK_FALSE(cpu_times_in("intr 5"));
  const auto memory = memory_use_in(
      "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\nSwapTotal: 400 kB\nSwapFree: 300 kB\n");
  REQUIRE(memory);
  CHECK(memory->used_percent == 75);
  CHECK(memory->swap_percent == 25);
  CHECK_FALSE(memory_use_in("MemTotal: 1000 kB\n"));
}

TEST_CASE("RichProgressBar says how progress is shown") {
  CHECK(style_of(Value::map()).refresh_rate == 1);
  CHECK(style_of(Value::map()).bar == "38;2;98;6;224");
  CHECK_FALSE(style_of(Value::map({{"refresh_rate", 0}})).shown);
  const nexuml::ProgressStyle style = style_of(Value::map(
      {{"refresh_rate", 5},
       {"leave", true},
       {"theme", Value::map({{"progress_bar", "bold bright_red"},
                             {"metrics_format", ".2f"},
                             {"metrics_text_delimiter", "|"}})},
       {"console_kwargs", Value::map({{"force_terminal", true}, {"no_color", true}, {"width", 80}})}}));
  CHECK(style.refresh_rate == 5);
  CHECK(style.leave);
  CHECK(style.bar == "1;91");
  CHECK(style.metrics_format == ".2f");
  CHECK(style.metrics_separator == "|");
  CHECK(style.on_terminal == true);
  CHECK_FALSE(style.colored);
  CHECK(style.line_width == 80);
}

TEST_CASE("what a progress bar cannot do is refused with the argument") {
  const auto theme = [](const char* key, const char* text) {
    return Value::map({{"theme", Value::map({{key, text}})}});
  };
  CHECK_THAT(refusal(bar, theme("progress_bar", "chartreusish")), Catch::Contains("chartreusish"));
  CHECK_THAT(refusal(bar, theme("metrics_format", ">{}10")), Catch::Contains("metrics_format"));
  CHECK_THAT(refusal(bar, theme("progress_bar_pulse", "red")), Catch::Contains("progress_bar_pulse"));
  CHECK_THAT(refusal(bar, Value::map({{"console_kwargs", Value::map({{"stderr", false}})}})),
             Catch::Contains("stdout"));
  CHECK_THAT(refusal(bar, Value::map({{"console_kwargs", Value::map({{"record", true}})}})),
             Catch::Contains("record"));
}

TEST_CASE("arguments of ModelCheckpoint that have no effect are told") {
  nexuml::Diagnostics advice;
  callback("model_checkpoint:ModelCheckpoint", Value::map({{"dirpath", "x"}, {"filename", "{epoch}"}}),
           {.advice = &advice});
  REQUIRE(advice.size() == 1);
  CHECK(advice.entries().front().code == "W847");
  CHECK_THAT(advice.entries().front().message, Catch::Contains("dirpath, filename"));
}
