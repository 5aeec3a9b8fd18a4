// A whole strategy as recipes: what is written, what is refused, what is rebuilt.
#include <catch2/catch.hpp>

#include "train/strategy_parts.h"

using namespace nexuml;
using namespace nexuml::test;
using Catch::Contains;

namespace {

class SilentRamp final : public WeightSchedule {
 public:
  double weight(std::int64_t, std::int64_t) const override { return 1; }
};
class LyingRamp final : public DescribedSchedule {
 public:
  explicit LyingRamp(Value says) : says_(std::move(says)) {}
  double weight(std::int64_t, std::int64_t) const override { return 1; }
  Value to_spec(const ComponentRegistry&) const override { return says_; }

 private:
  Value says_;
};

// Through bytes, as a checkpoint has it.
Value reread(const Value& value) {
  Diagnostics problems;
  Value result = parse_json(write_json(value), "strategy.json", problems);
  REQUIRE_FALSE(problems.has_errors());
  return result;
}

}  // namespace

TEST_CASE(
    "a strategy goes through its dict: models, optimizers, schedulers, losses, weights, training function") {
  const auto known = strategy_targets();
  Diagnostics warnings;
  const Value dict = whole_strategy(known).to_spec_dict(warnings);
  CHECK(warnings.empty());
  const TrainingStrategy again = TrainingStrategy::from_spec_dict(reread(dict), known);
  CHECK(again.models.size() == 2);
  CHECK(dynamic_cast<Net&>(again.model("encoder")).arguments().size == 3);
  CHECK(again.optimizer().groups().front().lr == 0.25);
  CHECK(again.optimizer().groups().front().parameters.size() == 2);
  const auto& scheduler = dynamic_cast<Falling&>(again.scheduler("encoder_scheduler"));
  CHECK(scheduler.epochs == 4);
  CHECK(scheduler.warmup == 2);
  CHECK(again.length() == TrainingLength{4, 3});
  CHECK(std::get<double>(again.losses[0].weight) == 0.75);
  CHECK(std::get<std::shared_ptr<WeightSchedule>>(again.losses[1].weight)->weight(5, 0) == 0.5);
  CHECK(again.training_fn.name() == "acme.train:step");
  Diagnostics none;
  CHECK(without_timestamps(again.to_spec_dict(none)) == without_timestamps(dict));
}

TEST_CASE("recipes keep their bytes from one dict to the next while nothing changed") {
  TrainingStrategy strategy = whole_strategy(strategy_targets());
  Diagnostics warnings;
  const Value first = strategy.to_spec_dict(warnings);
  CHECK(write_json(strategy.to_spec_dict(warnings, &first)) == write_json(first));
  strategy.models[1].module = std::make_shared<Net>(NetArguments{.size = 5});
  const Value second = strategy.to_spec_dict(warnings, &first);
  CHECK(write_json(second.at("models").at("encoder")) == write_json(first.at("models").at("encoder")));
  CHECK(second.at("models").at("head").at("size") == Value(5));
}

TEST_CASE("the recipe of a model is tried once, and again when the model changed") {
  TrainingStrategy strategy = whole_strategy(strategy_targets());
  Diagnostics warnings;
  (void)strategy.to_spec_dict(warnings);
  const int built = Net::built;
  (void)strategy.to_spec_dict(warnings);
  CHECK(Net::built == built);
  strategy.model("head").register_buffer("late", at::zeros({2}));
  CHECK_THROWS_WITH(strategy.checkpoint_spec_dict(), Contains("[head]") && Contains("buffer late"));
}

TEST_CASE("a model without a recipe is left out with a warning, and a checkpoint refuses as a whole") {
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  strategy.add_model("a", torch::nn::Linear(2, 2).ptr());
  strategy.add_model("b", std::make_shared<Net>(NetArguments{}),
                     create_model_spec(known, NetArguments{.size = 7}));
  Diagnostics warnings;
  const Value dict = strategy.to_spec_dict(warnings);
  CHECK(dict.at("models").size() == 2);
  CHECK_THAT(warnings.to_text(), Contains("W747") && Contains("Omitting model spec for 'a'") &&
                                     Contains("Omitting model spec for 'b'") && Contains("linear.weight"));
  CHECK_THROWS_WITH(
      strategy.checkpoint_spec_dict(),
      Contains("Cannot save strategy checkpoint because model spec generation failed for model(s) [a, b]") &&
          Contains("says nothing of how it was built"));
}

TEST_CASE("functions are recorded by name only: an object without one is refused, naming the field") {
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  Diagnostics warnings;
  const Value dict = strategy.to_spec_dict(warnings);
  strategy.training_fn = TrainingFunctionRef(std::make_shared<Chained>());
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("E748") && Contains("training_fn") &&
                                                         Contains("a lambda, a local or a bound function"));

  Value changed = dict;
  changed.set("training_fn", "acme.metrics:one");
  CHECK_THROWS_WITH(TrainingStrategy::from_spec_dict(changed, known), Contains("no TrainingFunction"));
  changed.set("training_fn", "os.system");
  CHECK_THROWS_WITH(TrainingStrategy::from_spec_dict(changed, known), Contains("E733"));
}

TEST_CASE("a training function that is passed wins, and without any the error says what to pass") {
  const auto known = strategy_targets();
  Diagnostics warnings;
  Value dict = whole_strategy(known).to_spec_dict(warnings);
  struct Constant final : TrainingFunction {
    TensorDict forward(const StrategyModels&, const Batch&) const override {
      return {{"prediction", at::full({2, 3}, 7.0)}};
    }
  };
  const TrainingStrategy passed = TrainingStrategy::from_spec_dict(
      dict, known, {.training_fn = TrainingFunctionRef(std::make_shared<Constant>())});
  const Batch batch{.x = {{"input", at::zeros({2, 3})}}, .y = TensorDict{{"target", at::full({2, 3}, 5.0)}}};
  CHECK(passed.loss(batch).item<double>() == Approx(0.75 * 4.0));
  dict.erase("training_fn");
  CHECK_THROWS_WITH(TrainingStrategy::from_spec_dict(dict, known),
                    Contains("training_fn is neither recorded nor passed") && Contains("pass it"));
}

TEST_CASE("a loss_target_assembler is never written, and asked for when the strategy is loaded") {
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  const auto doubled = [](const Batch& batch) { return TensorDict{{"target", batch.x.get("input") * 2}}; };
  strategy.loss_target_assembler = doubled;
  Diagnostics warnings;
  const Value dict = strategy.to_spec_dict(warnings);
  CHECK(dict.at("loss_target_assembler") == Value(true));
  CHECK_THROWS_WITH(TrainingStrategy::from_spec_dict(dict, known),
                    Contains("loss_target_assembler") && Contains("pass it"));
  const TrainingStrategy again =
      TrainingStrategy::from_spec_dict(dict, known, {.loss_target_assembler = doubled});
  const Batch batch{.x = {{"input", at::ones({2, 3})}}, .y = std::nullopt};
  CHECK(again.loss(batch).requires_grad());
  CHECK_THROWS_WITH(whole_strategy(known).loss(batch),
                    Contains("no labels") && Contains("loss_target_assembler"));
}

TEST_CASE("a loss compares what its key names, and without one the only output with the only target") {
  const auto known = strategy_targets();
  struct Two final : TrainingFunction {
    TensorDict forward(const StrategyModels&, const Batch&) const override {
      return {{"a", at::full({1}, 3.0)}, {"b", at::full({1}, 5.0)}};
    }
  };
  TrainingStrategy strategy(known);
  strategy.training_fn = TrainingFunctionRef(std::make_shared<Two>());
  strategy.add_loss(create_model_spec(known, SquaredErrorArguments{}), 1.0, "b");
  const Batch batch{.x = {}, .y = TensorDict{{"a", at::zeros({1})}, {"b", at::zeros({1})}}};
  CHECK(strategy.loss(batch).item<double>() == 25);
  strategy.add_loss(create_model_spec(known, SquaredErrorArguments{}));
  CHECK_THROWS_WITH(strategy.loss(batch), Contains("a, b") && Contains("name the key"));
}

TEST_CASE("a weight schedule gives the recipe of a weight schedule, or is refused with its index") {
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  Diagnostics warnings;
  strategy.losses[1].weight = std::make_shared<SilentRamp>();
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("losses[1].weight") && Contains("to_spec()"));
  strategy.losses[1].weight = std::make_shared<LyingRamp>(Value(3));
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("losses[1].weight") && Contains("integer 3"));
  strategy.losses[1].weight =
      std::make_shared<LyingRamp>(create_model_spec(known, NetArguments{}).to_value());
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("losses[1].weight") && Contains("E736"));
}

TEST_CASE("parts that belong to none and names that are given twice are refused") {
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  const Recipe momentum = create_model_spec(known, MomentumArguments{});
  CHECK_THROWS_WITH(strategy.add_optimizer("encodr", momentum), Contains("'encodr'") && Contains("encoder"));
  CHECK_THROWS_WITH(strategy.add_optimizer("encoder", momentum), Contains("two optimizers"));
  CHECK_THROWS_WITH(strategy.add_model("encoder", std::make_shared<Net>(NetArguments{})),
                    Contains("two models are named 'encoder'"));
  CHECK_THROWS_WITH(strategy.add_optimizer("head", create_model_spec(known, FallingArguments{})),
                    Contains("optimizers.head_optimizer"));
  CHECK_THROWS_WITH(strategy.model(), Contains("which model is meant") && Contains("encoder, head"));
  CHECK_THROWS_WITH(strategy.model("tail"), Contains("no model 'tail'"));
  Diagnostics warnings;
  strategy.models[1].name = "encoder";
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("two models are named 'encoder'"));
  strategy.models[1].name = "encoder.head";
  CHECK_THROWS_WITH(strategy.to_spec_dict(warnings), Contains("'encoder.head'") && Contains("dots"));
}

TEST_CASE("every problem of a dict is reported before anything is built") {
  const auto known = strategy_targets();
  Diagnostics warnings;
  Value dict = whole_strategy(known).to_spec_dict(warnings);
  dict.find("models")->find("head")->set("width", 3);
  dict.find("optimizers")->find("encoder_optimizer")->find("spec")->set("cls_path", "acme.optim.Momentm");
  dict.find("losses")->items()[0].erase("weight");
  dict.find("length")->set("max_epochs", 0);
  dict.set("hooks", Value::list());
  const int built = Net::built;
  try {
    (void)TrainingStrategy::from_spec_dict(dict, known);
    FAIL("a wrong dict was taken");
  } catch (const Error& error) {
    CHECK_THAT(error.diagnostics().to_text(),
               Contains("models.head") && Contains("no argument 'width'") && Contains("acme.optim.Momentm") &&
                   Contains("spec and weight are needed here") && Contains("no 'hooks'") &&
                   Contains("max_epochs is a whole number of at least 1"));
  }
  CHECK(Net::built == built);
}

TEST_CASE("live models take the place of building") {
  const auto known = strategy_targets();
  Diagnostics warnings;
  const Value dict = whole_strategy(known).to_spec_dict(warnings);
  const auto live = std::make_shared<Net>(NetArguments{.size = 3});
  const TrainingStrategy built =
      TrainingStrategy::from_spec_dict(dict, known, {.models = {{"encoder", live}}});
  CHECK(built.models[0].module == live);
  CHECK(built.optimizer().groups().front().parameters[0].tensor.is_same(live->linear->weight));
  CHECK_THROWS_WITH(TrainingStrategy::from_spec_dict(dict, known, {.models = {{"decoder", live}}}),
                    Contains("'decoder'"));
}
