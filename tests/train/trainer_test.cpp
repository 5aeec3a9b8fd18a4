#include "train/trainer.h"

#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>

#include "checkpoint/weights.h"
#include "train/small_training.h"

namespace nexuml {
namespace {

using test::Log;
using test::SmallTraining;

class Recorder final : public Callback {
 public:
  void epoch_end(TrainingView& view) override { epochs.push_back(view.metrics()); }
  std::vector<OrderedMap<double>> epochs;
};

bool same_weights(const SmallTraining& left, const SmallTraining& right) {
  const TensorMap a = state_dict(*left.pipeline), b = state_dict(*right.pipeline);
  for (const auto& [name, tensor] : a)
    if (!at::equal(tensor, b.at(name))) return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("layers are told of a training in Lightning's order") {
  const auto log = std::make_shared<Log>();
  SmallTraining training(1, log);
  training.options.max_epochs = 1;
  Trainer trainer = training.trainer();
  trainer.fit();
  trainer.test(nullptr);
  const Log train(5, "forward training"), val(2, "forward validating");
  Log expected{"fit_start", "validation_start"};
  expected.insert(expected.end(), val.begin(), val.end());  // the sanity check: two batches
  expected.insert(expected.end(), {"validation_end", "train_start", "train_epoch_start"});
  expected.insert(expected.end(), train.begin(), train.end());
  expected.push_back("validation_start");
  expected.insert(expected.end(), val.begin(), val.end());
  expected.insert(expected.end(), {"validation_end", "train_epoch_end", "train_end", "fit_end", "test_start",
                                   "forward testing", "forward testing", "test_end"});
  CHECK(*log == expected);
}

TEST_CASE("epoch metrics have Lightning's names, and those of layers only where metric_keys names them") {
  SmallTraining training(1);
  const auto recorder = std::make_shared<Recorder>();
  training.strategy.callbacks.push_back({"recorder", recorder});
  training.trainer().fit();
  REQUIRE(recorder->epochs.size() == 3);
  std::vector<std::string> names;
  for (const auto& [name, value] : recorder->epochs.front()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"lr", "train/loss", "train/squared", "val/loss", "val/squared",
                                          "val/Score"});
  for (const auto& epoch : recorder->epochs)
    CHECK(epoch.at("train/loss") == Approx(2 * epoch.at("train/squared")));
  CHECK(recorder->epochs.back().at("val/loss") < recorder->epochs.front().at("val/loss"));
}

TEST_CASE(
    "what callbacks record of an epoch is one of its metrics, and what they record of a step is handed on") {
  class Recording final : public Callback {
   public:
    void train_epoch_start(TrainingView& view) override { view.record("start", double(view.epoch())); }
    void train_batch_start(TrainingView& view) override { view.record_step("before", double(view.batch())); }
    void train_batch_end(TrainingView& view) override { view.record_step("after", double(view.batch())); }
    void train_epoch_end(TrainingView& view) override { view.record("end", view.optimizer().groups()[0].lr); }
  };
  SmallTraining training(1);
  training.options.max_epochs = 2;
  const auto recorder = std::make_shared<Recorder>();
  training.strategy.callbacks = {{"recorder", recorder}, {"recording", std::make_shared<Recording>()}};
  std::vector<std::int64_t> steps;
  training.options.step_recorded = [&](std::int64_t step, const OrderedMap<double>& values) {
    steps.push_back(step);
    CHECK(values.at("after") == values.at("before") + 1);
  };
  training.trainer().fit();
  CHECK(steps == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  REQUIRE(recorder->epochs.size() == 2);
  CHECK(recorder->epochs[1].at("start") == 1);
  CHECK(recorder->epochs[1].at("end") == 0.025);
}

TEST_CASE("recording where no logger would write it is refused") {
  class Late final : public Callback {
   public:
    explicit Late(bool step) : step_(step) {}
    void epoch_end(TrainingView& view) override {
      if (!step_) view.record("late", 1);
    }
    void train_epoch_start(TrainingView& view) override {
      if (step_) view.record_step("late", 1);
    }

   private:
    bool step_;
  };
  for (const bool step : {false, true}) {
    SmallTraining training(1);
    training.strategy.callbacks = {{"late", std::make_shared<Late>(step)}};
    CHECK_THROWS_WITH(training.trainer().fit(), Catch::Contains("E846") && Catch::Contains("'late'"));
  }
}

TEST_CASE("the scheduler steps after the optimizer, and the lr of an epoch is the one used in it") {
  SmallTraining training(1);
  const auto recorder = std::make_shared<Recorder>();
  training.strategy.callbacks.push_back({"recorder", recorder});
  training.trainer().fit();
  CHECK(recorder->epochs[0].at("lr") == 0.05);
  CHECK(recorder->epochs[1].at("lr") == 0.025);
  CHECK(recorder->epochs[2].at("lr") == 0.0125);
}

TEST_CASE("the same seed trains the same bits, another seed others") {
  const auto trained = [](std::uint64_t seed) {
    auto training = std::make_unique<SmallTraining>(seed);
    training->trainer().fit();
    return training;
  };
  const auto first = trained(7), second = trained(7), other = trained(8);
  CHECK(same_weights(*first, *second));
  CHECK_FALSE(same_weights(*first, *other));
}

TEST_CASE("the sanity check leaves no trace in the random streams") {
  SmallTraining with(3);
  with.trainer().fit();
  SmallTraining without(3);
  const Splits no_validation{with.data->rows(Split::train), {}, with.data->rows(Split::test)};
  without.data = std::make_unique<DataModule>(
      DataSpec{}, 8,
      std::make_shared<TensorDataset>(static_cast<const TensorDataset&>(with.data->dataset()).x()),
      no_validation, DataModuleOptions{.seed = 3});
  without.trainer().fit();
  CHECK(same_weights(with, without));
}

TEST_CASE("a loss key that no layer produces is refused with the near name before anything runs") {
  SmallTraining training(1);
  training.options.loss_keys = {{"sqared", 1.0}};
  try {
    training.trainer();
    FAIL("accepted");
  } catch (const Error& error) {
    const Diagnostic& problem = error.diagnostics().entries().front();
    CHECK(problem.code == "E841");
    CHECK(problem.where.key_path == "training.loss_keys.sqared");
    CHECK(problem.hint == "did you mean squared?");
  }
}

TEST_CASE("training without a loss is refused") {
  SmallTraining training(1);
  training.options.loss_keys = {};
  CHECK_THROWS_WITH(training.trainer().fit(), Catch::Contains("names no loss"));
}

TEST_CASE("weights that are all frozen are an error, not a training without effect") {
  SmallTraining training(1);
  for (auto& parameter : training.pipeline->parameters()) parameter.set_requires_grad(false);
  CHECK_THROWS_WITH(training.trainer().fit(), Catch::Contains("depends on no parameter"));
}

TEST_CASE("a requested stop ends the training after the step and keeps what was reached") {
  SmallTraining training(1);
  std::stop_source source;
  training.options.stop = source.get_token();
  int steps = 0;
  training.options.after_step = [&](const Batch&, const LossTerms&) {
    if (++steps == 7) source.request_stop();
  };
  Trainer trainer = training.trainer();
  trainer.fit();
  CHECK(trainer.stopped());
  CHECK(steps == 7);
  CHECK(training.strategy.counters.global_step == 7);
  CHECK(training.strategy.counters.epoch == 1);
  CHECK(training.strategy.counters.batch == 2);
}

TEST_CASE("a training that is resumed anywhere sees the same batches and ends with the same bits") {
  std::vector<at::Tensor> expected_rows;
  SmallTraining whole(11);
  whole.options.after_step = [&](const Batch& batch, const LossTerms&) {
    expected_rows.push_back(batch.x.get("sample_index").clone());
  };
  const auto expected_epochs = std::make_shared<Recorder>();
  whole.strategy.callbacks.push_back({"recorder", expected_epochs});
  whole.trainer().fit();
  REQUIRE(expected_rows.size() == 15);

  for (const std::int64_t stop_at : {1, 4, 5, 7, 10, 14}) {
    INFO("stopped after step " << stop_at);
    StrategyState saved;
    {
      SmallTraining first(11);
      std::stop_source source;
      first.options.stop = source.get_token();
      first.options.after_step = [&, step = 0](const Batch&, const LossTerms&) mutable {
        if (++step == stop_at) source.request_stop();
      };
      first.trainer().fit();
      const StrategyState state = first.strategy.state();
      for (const auto& [name, tensor] : state.model) saved.model.add(name, tensor.detach().clone());
      for (const auto& [name, tensor] : state.tensors) saved.tensors.add(name, tensor.clone());
      saved.scalars = state.scalars;
    }
    SmallTraining second(11);
    seed_random_streams(999, at::kCPU);  // the saved streams have to win
    second.strategy.restore(saved);
    std::vector<at::Tensor> rows;
    second.options.after_step = [&](const Batch& batch, const LossTerms&) {
      rows.push_back(batch.x.get("sample_index").clone());
    };
    const auto epochs = std::make_shared<Recorder>();
    second.strategy.callbacks.push_back({"recorder", epochs});
    second.trainer().fit();
    REQUIRE(rows.size() == 15 - static_cast<std::size_t>(stop_at));
    for (std::size_t i = 0; i < rows.size(); ++i)
      CHECK(at::equal(rows[i], expected_rows[i + static_cast<std::size_t>(stop_at)]));
    CHECK(same_weights(second, whole));
    CHECK(epochs->epochs.back() == expected_epochs->epochs.back());
    CHECK(epochs->epochs.front() == expected_epochs->epochs[3 - epochs->epochs.size()]);
  }
}

TEST_CASE("a state that does not fit in one part changes nothing in any part") {
  const auto copy_of = [](const TrainingStrategy& strategy) {
    const StrategyState state = strategy.state();
    StrategyState copy{{}, {}, state.scalars};
    for (const auto& [name, tensor] : state.model) copy.model.add(name, tensor.detach().clone());
    for (const auto& [name, tensor] : state.tensors) copy.tensors.add(name, tensor.clone());
    return copy;
  };
  SmallTraining source(21);
  source.trainer().fit();
  const StrategyState fits = copy_of(source.strategy);
  const auto without_part = [&](const std::string& part) {
    StrategyState broken = fits;
    broken.scalars.erase(part);
    return broken;
  };
  for (const std::string part : {"optimizer", "scheduler", "means", "random", "counters"}) {
    INFO(part);
    SmallTraining target(22);
    target.options.max_epochs = 1;
    target.trainer().fit();
    const StrategyState before = copy_of(target.strategy);
    CHECK_THROWS_WITH(target.strategy.restore(without_part(part)), Catch::Contains("E842"));
    const StrategyState after = copy_of(target.strategy);
    CHECK(after.scalars == before.scalars);
    for (const auto& [name, tensor] : before.model) CHECK(at::equal(tensor, after.model.at(name)));
    for (const auto& [name, tensor] : before.tensors) CHECK(at::equal(tensor, after.tensors.at(name)));
  }
}

TEST_CASE("taking the state for a checkpoint draws no random number and leaves the training as it was") {
  SmallTraining plain(31);
  plain.trainer().fit();
  SmallTraining saving(31);
  saving.options.after_step = [&](const Batch&, const LossTerms&) { saving.strategy.state(); };
  saving.trainer().fit();
  CHECK(same_weights(plain, saving));
}

TEST_CASE("frozen parameters are frozen again in a resumed training, and the others are not") {
  SmallTraining first(41);
  first.pipeline->parameters().front().set_requires_grad(false);
  const StrategyState saved = first.strategy.state();
  SmallTraining second(41);
  second.pipeline->parameters().back().set_requires_grad(false);
  second.strategy.restore(saved);
  CHECK_FALSE(second.pipeline->parameters().front().requires_grad());
  CHECK(second.pipeline->parameters().back().requires_grad());
}

TEST_CASE("state of callbacks that a training does not have is named") {
  SmallTraining first(51);
  StrategyState saved = first.strategy.state();
  saved.scalars.set("callback/early_stopping", Value::map({{"best", 0.5}}));
  saved.scalars.set("callback/progress", Value::map());
  CHECK(first.strategy.unclaimed(saved) == std::vector<std::string>{"callback/early_stopping"});
}

}  // namespace nexuml
