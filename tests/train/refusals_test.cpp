// What training refuses, by its code.
#include <catch2/catch.hpp>

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

}  // namespace

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
