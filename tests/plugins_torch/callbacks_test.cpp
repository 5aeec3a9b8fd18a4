// Callbacks under Lightning's names, on metrics that a test gives.
#include <nexuml/training.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "plugins_torch/given_training.h"

using nexuml::Value;
using torch_tests::callback;
using torch_tests::GivenTraining;
using torch_tests::refusal;

namespace {

double number_of(const Value& value) {
  if (value == Value("nan")) return std::nan("");
  if (value == Value("inf")) return std::numeric_limits<double>::infinity();
  return value.as_number();
}

// The epoch, from 0, after which the training ends; -1 where it goes on.
std::int64_t stops_after(nexuml::Callback& stopping, const std::vector<double>& values) {
  GivenTraining view;
  for (std::size_t i = 0; i < values.size(); ++i) {
    view.end_epoch(stopping, values[i]);
    if (view.stopped) return static_cast<std::int64_t>(i);
  }
  return -1;
}

}  // namespace

TEST_CASE("early stopping ends reported sequences where they should, NaN and infinity at once") {
  const std::string path = std::string(NEXUML_TEST_DATA) + "/cases/T03-earlystop-nan/sequences.json";
  nexuml::Diagnostics problems;
  const Value sequences = nexuml::parse_json(nexuml::read_text_file(path, problems), path, problems);
  REQUIRE_FALSE(problems.has_errors());
  for (const Value& sequence : sequences.items()) {
    INFO(sequence.at("name").as_string());
    Value kwargs = Value::map(
        {{"monitor", "val/loss"}, {"mode", sequence.at("mode")}, {"patience", sequence.at("patience")}});
    if (const Value* delta = sequence.find("min_delta")) kwargs.set("min_delta", *delta);
    std::vector<double> values;
    for (const Value& value : sequence.at("values").items()) values.push_back(number_of(value));
    const auto stopping = callback("early_stopping:EarlyStopping", kwargs);
    CHECK(stops_after(*stopping, values) == sequence.at("stop_after_index").as_integer());
    if (const Value* best = sequence.find("best"))
      CHECK(stopping->state().scalars.at("best_score").as_number() == best->as_number());
  }
}

TEST_CASE("without check_finite a value that is not finite improves on nothing") {
  const auto stopping = [](std::int64_t patience) {
    return callback("early_stopping:EarlyStopping",
                    Value::map({{"monitor", "val/loss"}, {"patience", patience}, {"check_finite", false}}));
  };
  const double nan = std::nan("");
  CHECK(stops_after(*stopping(2), {nan, 1.0, 0.9, 0.95, 0.96, 0.97}) == 4);
  CHECK(stops_after(*stopping(3), {1.0, 0.8, nan, 0.7, 0.6}) == -1);
}

TEST_CASE("early stopping obeys its thresholds and goes on where it stopped") {
  const auto good = callback("early_stopping:EarlyStopping",
                             Value::map({{"monitor", "val/loss"}, {"stopping_threshold", 0.1}}));
  CHECK(stops_after(*good, {1.0, 0.5, 0.05}) == 2);
  const auto bad = callback("early_stopping:EarlyStopping",
                            Value::map({{"monitor", "val/loss"}, {"divergence_threshold", 10.0}}));
  CHECK(stops_after(*bad, {1.0, 11.0}) == 1);
  const Value kwargs = Value::map({{"monitor", "val/loss"}, {"patience", 3}});
  const auto first = callback("early_stopping:EarlyStopping", kwargs);
  CHECK(stops_after(*first, {1.0, 2.0, 2.0}) == -1);
  const auto resumed = callback("early_stopping:EarlyStopping", kwargs);
  resumed->load_state(first->state());
  CHECK(stops_after(*resumed, {2.0}) == 0);
}

TEST_CASE("a metric that no epoch gives is an error that names those that there are") {
  const auto stopping = callback("early_stopping:EarlyStopping", Value::map({{"monitor", "val_loss"}}));
  GivenTraining view;
  CHECK_THROWS_WITH(view.end_epoch(*stopping, 1.0),
                    Catch::Contains("val_loss") && Catch::Contains("train/loss, val/loss"));
}

TEST_CASE("ModelCheckpoint keeps the best and the last, and drops the others") {
  const auto keeping =
      callback("model_checkpoint:ModelCheckpoint",
               Value::map({{"monitor", "val/loss"}, {"save_top_k", 2}, {"save_last", true}}));
  GivenTraining view;
  for (const double value : {5.0, 3.0, 4.0, 9.0, 2.0, std::nan(""), 8.0}) view.end_epoch(*keeping, value);
  CHECK(view.saved == std::vector<std::int64_t>{1, 4, 6});
  CHECK(keeping->results().at("best_checkpoint") == 4);
  CHECK(keeping->results().at("best_val/loss") == 2.0);
}

TEST_CASE(
    "ModelCheckpoint goes on from a checkpoint as if it had not stopped: that one is among those it knows") {
  const auto rules = [] {
    return callback("model_checkpoint:ModelCheckpoint",
                    Value::map({{"monitor", "val/loss"}, {"save_top_k", 1}, {"save_last", true}}));
  };
  const auto first = rules();
  GivenTraining view;
  view.saving = first.get();
  for (const double value : {5.0, 3.0}) view.end_epoch(*first, value);
  CHECK(view.saved == std::vector<std::int64_t>{1});

  // As after `train --resume` from checkpoint 1.
  const auto resumed = rules();
  resumed->load_state(view.state_while_saving);
  CHECK(resumed->results().at("best_checkpoint") == 1);
  for (const double value : {4.0, 2.0}) view.end_epoch(*resumed, value);
  CHECK(view.saved == std::vector<std::int64_t>{3});
}

TEST_CASE("a ModelCheckpoint whose save fails keeps what it had, and drops nothing") {
  const auto keeping =
      callback("model_checkpoint:ModelCheckpoint", Value::map({{"monitor", "val/loss"}, {"save_top_k", 1}}));
  GivenTraining view;
  view.end_epoch(*keeping, 5.0);
  view.disk_full = true;
  view.end_epoch(*keeping, 3.0);
  CHECK(view.saved == std::vector<std::int64_t>{0});
  CHECK(keeping->results().at("best_checkpoint") == 0);
  view.disk_full = false;
  view.end_epoch(*keeping, 4.0);
  CHECK(view.saved == std::vector<std::int64_t>{1});
}

TEST_CASE("arguments of callbacks that are unknown or wrong are errors, not dropped callbacks") {
  CHECK_THAT(refusal("early_stopping:EarlyStopping", Value::map({{"monitor", "val/loss"}, {"patiance", 3}})),
             Catch::Contains("patiance") && Catch::Contains("patience"));
  CHECK_THAT(refusal("early_stopping:EarlyStopping", Value::map({{"patience", 3}})),
             Catch::Contains("monitor"));
  CHECK_THAT(
      refusal("early_stopping:EarlyStopping", Value::map({{"monitor", "val/loss"}, {"mode", "smallest"}})),
      Catch::Contains("smallest"));
  CHECK_THAT(refusal("model_checkpoint:ModelCheckpoint", Value::map({{"save_top_k", 3}})),
             Catch::Contains("monitor"));
  CHECK_THAT(refusal("lr_monitor:LearningRateMonitor", Value::map({{"logging_interval", "minute"}})),
             Catch::Contains("minute"));
}
