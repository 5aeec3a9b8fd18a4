// What training refuses, by its code.
#include <nexuml/registration.h>

#include <catch2/catch.hpp>

#include "evaluate/evaluation_run.h"
#include "train/device.h"
#include "train/factories.h"
#include "train/small_training.h"

namespace nexuml::test {
namespace {

class FailingCallback final : public Callback {
 public:
  void train_epoch_start(TrainingView&) override { throw std::runtime_error("the mail server is down"); }
};

class SavingCallback final : public Callback {
 public:
  void train_epoch_end(TrainingView& view) override { view.save_checkpoint(); }
};

// Waits for a metric that no epoch gives.
class WaitingScheduler final : public Scheduler {
 public:
  explicit WaitingScheduler(Optimizer& optimizer) : Scheduler(optimizer) { apply(); }
  std::optional<std::string> monitor() const override { return "val/lozz"; }

 protected:
  double next_lr(std::size_t, double base, double) const override { return base; }
};

struct BrokenOptimizer {
  double lr = 0.1;

  static void describe(Schema<BrokenOptimizer>& s) { s.field("lr", &BrokenOptimizer::lr); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext&) const {
    throw std::runtime_error("its kernel is missing");
  }
};

struct BrokenEvaluation {
  std::int64_t size = 1;

  static void describe(Schema<BrokenEvaluation>& s) { s.field("size", &BrokenEvaluation::size); }
  std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext&) const {
    throw std::runtime_error("its font is missing");
  }
};

// Fails in its second batch, or counts to the end.
struct CountingEvaluation {
  bool fails = false;

  static void describe(Schema<CountingEvaluation>& s) { s.field("fails", &CountingEvaluation::fails); }
  std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext&) const {
    class Counting final : public EvalAlgorithm {
     public:
      explicit Counting(bool fails) : fails_(fails) {}
      void eval_batch(const EvalBatch&) override {
        if (++batches_ == 2 && fails_) throw std::runtime_error("its ink is empty");
      }
      OrderedMap<double> results() const override { return {{"batches", double(batches_)}}; }

     private:
      bool fails_;
      int batches_ = 0;
    };
    return std::make_shared<Counting>(fails);
  }
};

ComponentRegistry broken_components() {
  return ComponentRegistry().with_program([](Registration& r) {
    r.add_target<BrokenOptimizer>("tests.optim:Broken");
    r.add<BrokenEvaluation>("broken");
    r.add<CountingEvaluation>("counting");
  });
}

}  // namespace

TEST_CASE("devices and precisions that are not offered are named with those that are") {
  TrainingSpec spec;
  spec.accelerator = "tpu";
  CHECK_THROWS_WITH(choose_device(spec), Catch::Contains("E843") && Catch::Contains("auto, cpu, gpu"));
  spec.precision = "16-mixed";
  CHECK_THROWS_WITH(choose_precision(spec), Catch::Contains("E844") && Catch::Contains("bf16-mixed"));
}

TEST_CASE("an optimizer and an evaluation algorithm that throw while they are built are named") {
  const ComponentRegistry registry = broken_components();
  TrainingSpec spec;
  spec.optimizer.factory = "tests.optim:Broken";
  CHECK_THROWS_WITH(build_optimizer(spec, registry, {}), Catch::Contains("E840") &&
                                                             Catch::Contains("tests.optim:Broken") &&
                                                             Catch::Contains("its kernel is missing"));
  EvaluationSpec evaluation;
  evaluation.algorithms.push_back({.algorithm = BrokenEvaluation{}, .name = "plots"});
  CHECK_THROWS_WITH(
      EvaluationRun(evaluation, EvalBuildContext{}, registry),
      Catch::Contains("E850") && Catch::Contains("'plots'") && Catch::Contains("its font is missing"));
}

TEST_CASE("an evaluation algorithm that fails while it runs is named, and takes no other's numbers with it") {
  const ComponentRegistry registry = broken_components();
  EvaluationSpec evaluation;
  evaluation.algorithms.push_back({.algorithm = CountingEvaluation{.fails = true}, .name = "plots"});
  evaluation.algorithms.push_back({.algorithm = CountingEvaluation{}, .name = "counts"});
  EvaluationRun run(evaluation, EvalBuildContext{}, registry);
  const TensorDict x;
  for (int batch = 0; batch < 3; ++batch) run.eval_batch({.x = x, .size = 1});
  CHECK(run.finish() == OrderedMap<double>{{"eval/counts/batches", 3}});
  REQUIRE(run.failures().size() == 1);
  CHECK(run.failures().entries().front().code == "E850");
  CHECK(run.failures().entries().front().where.key_path == "evaluation.algorithms[0]");
  CHECK_THAT(run.failures().to_text(), Catch::Contains("'plots'") && Catch::Contains("its ink is empty"));
}

TEST_CASE("a scheduler that watches a metric which no epoch gives is told the near one") {
  SmallTraining training(1);
  training.strategy.schedulers.front().scheduler =
      std::make_shared<WaitingScheduler>(training.strategy.optimizer());
  Trainer trainer = training.trainer();
  CHECK_THROWS_WITH(trainer.fit(), Catch::Contains("E847") && Catch::Contains("did you mean val/loss?"));
}

TEST_CASE("a callback that throws is named") {
  SmallTraining training(1);
  training.strategy.callbacks.push_back({.name = "mail", .callback = std::make_shared<FailingCallback>()});
  Trainer trainer = training.trainer();
  CHECK_THROWS_WITH(trainer.fit(),
                    Catch::Contains("E846") && Catch::Contains("'mail'") && Catch::Contains("mail server"));
}

TEST_CASE("a callback that saves in a run without checkpoints is refused") {
  SmallTraining training(1);
  training.strategy.callbacks.push_back({.name = "saver", .callback = std::make_shared<SavingCallback>()});
  Trainer trainer = training.trainer();
  CHECK_THROWS_WITH(trainer.fit(), Catch::Contains("E846") && Catch::Contains("no checkpoints"));
}

TEST_CASE("saved training state that lacks a part is refused") {
  SmallTraining training(1);
  StrategyState state = training.strategy.state();
  state.scalars.erase("optimizer");
  CHECK_THROWS_WITH(training.strategy.restore(state),
                    Catch::Contains("E842") && Catch::Contains("optimizer"));
}

}  // namespace nexuml::test
