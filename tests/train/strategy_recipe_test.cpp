// A whole strategy as recipes: what is written, what is refused, what is rebuilt.
#include <ATen/ops/mse_loss.h>
#include <nexuml/strategy_recipe.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

using namespace nexuml;
using Catch::Contains;

namespace {

struct NetArguments {
  std::int64_t size = 2;
  static void describe(Schema<NetArguments>& s) { s.field("size", &NetArguments::size).at_least(1); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Net : public torch::nn::Module, public BuiltFrom<NetArguments> {
 public:
  explicit Net(const NetArguments& arguments) : BuiltFrom(arguments) {
    linear = register_module("linear", torch::nn::Linear(arguments.size, arguments.size));
  }
  at::Tensor forward(const at::Tensor& input) { return linear->forward(input); }
  torch::nn::Linear linear{nullptr};
};
std::shared_ptr<TensorModule> NetArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Net>(*this));
}

class Still final : public Optimizer {
 public:
  using Optimizer::Optimizer;
  void step() override {}
};
struct StillArguments {
  double lr = 0.5;
  static void describe(Schema<StillArguments>& s) { s.field("lr", &StillArguments::lr); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext& context) const {
    return std::make_shared<Still>(context, lr);
  }
};
class Flat final : public Scheduler {
 public:
  using Scheduler::Scheduler;

 protected:
  double next_lr(std::size_t, double base, double) const override { return base; }
};
struct FlatArguments {
  static void describe(Schema<FlatArguments>&) {}
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return std::make_shared<Flat>(context.optimizer);
  }
};
class SquaredError final : public LossFunction {
 public:
  at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target) const override {
    return at::mse_loss(prediction, target);
  }
};
struct SquaredErrorArguments {
  static void describe(Schema<SquaredErrorArguments>&) {}
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return std::make_shared<SquaredError>();
  }
};

struct RampArguments {
  double start = 0, end = 1, scale = 1;
  std::int64_t num_steps = 10;
  static void describe(Schema<RampArguments>& s) {
    s.field("start", &RampArguments::start);
    s.field("end", &RampArguments::end);
    s.field("scale", &RampArguments::scale);
    s.field("num_steps", &RampArguments::num_steps).at_least(1);
  }
  std::shared_ptr<WeightSchedule> build(const WeightScheduleBuildContext&) const;
};
class Ramp : public ScheduleFrom<RampArguments> {
 public:
  using ScheduleFrom::ScheduleFrom;
  double weight(std::int64_t step, std::int64_t) const override {
    const double part = std::min(1.0, static_cast<double>(step) / static_cast<double>(arguments().num_steps));
    return arguments().scale * (arguments().start + part * (arguments().end - arguments().start));
  }
};
std::shared_ptr<WeightSchedule> RampArguments::build(const WeightScheduleBuildContext&) const {
  return std::make_shared<Ramp>(*this);
}
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

class Pass : public TrainingFunction {
 public:
  TensorDict forward(const StrategyModels&, const Batch&) const override { return {}; }
};
struct PassArguments {
  static void describe(Schema<PassArguments>&) {}
  std::shared_ptr<Function> build(const FunctionBuildContext&) const { return std::make_shared<Pass>(); }
};
class Metric final : public Function {
 public:
  Value operator()(const TensorDict&) const override { return 1; }
};
struct MetricArguments {
  static void describe(Schema<MetricArguments>&) {}
  std::shared_ptr<Function> build(const FunctionBuildContext&) const { return std::make_shared<Metric>(); }
};

ComponentRegistry known_targets() {
  return ComponentRegistry().with_program([](Registration& r) {
    r.add_target<NetArguments>("acme.nn:Net");
    r.add_target<StillArguments>("acme.optim:Still", {.injected = {"params"}});
    r.add_target<FlatArguments>("acme.optim:Flat", {.injected = {"optimizer"}});
    r.add_target<SquaredErrorArguments>("acme.losses:SquaredError");
    r.add_target<RampArguments>("acme.losses:Ramp");
    r.add_target<PassArguments>("acme.train:step");
    r.add_target<MetricArguments>("acme.metrics:one");
  });
}

StrategyParts whole(const ComponentRegistry& known) {
  StrategyParts parts;
  parts.models = {{"encoder", std::make_shared<Net>(NetArguments{.size = 3})},
                  {"head", std::make_shared<Net>(NetArguments{.size = 2})}};
  parts.optimizers = {{"encoder_optimizer", "encoder", create_model_spec(known, StillArguments{.lr = 0.25})}};
  parts.schedulers = {{"encoder_scheduler", "encoder_optimizer", create_model_spec(known, FlatArguments{})}};
  parts.losses = {{create_model_spec(known, SquaredErrorArguments{}), 0.75},
                  {create_model_spec(known, SquaredErrorArguments{}),
                   std::make_shared<Ramp>(RampArguments{.end = 4, .scale = 0.25})}};
  parts.training_fn = TrainingFunctionRef::named("acme.train:step");
  return parts;
}

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
  const auto known = known_targets();
  Diagnostics warnings;
  const Value dict = to_spec_dict(whole(known), known, warnings);
  CHECK(warnings.empty());
  const BuiltStrategy again = from_spec_dict(reread(dict), known);
  CHECK(again.parts.models.size() == 2);
  CHECK(std::dynamic_pointer_cast<Net>(again.parts.models[0].module)->arguments().size == 3);
  CHECK(again.optimizers.at("encoder_optimizer")->groups().front().lr == 0.25);
  CHECK(again.optimizers.at("encoder_optimizer")->groups().front().parameters.size() == 2);
  CHECK(again.schedulers.contains("encoder_scheduler"));
  CHECK(again.losses[0].weight == 0.75);
  CHECK(again.losses[1].schedule->weight(5, 0) == 0.5);
  CHECK(std::dynamic_pointer_cast<const Pass>(again.training_fn));
  Diagnostics none;
  CHECK(without_timestamps(to_spec_dict(again.parts, known, none)) == without_timestamps(dict));
}

TEST_CASE("recipes keep their bytes from one dict to the next while nothing changed") {
  const auto known = known_targets();
  StrategyParts parts = whole(known);
  Diagnostics warnings;
  const Value first = to_spec_dict(parts, known, warnings);
  CHECK(write_json(to_spec_dict(parts, known, warnings, &first)) == write_json(first));
  parts.models[1].module = std::make_shared<Net>(NetArguments{.size = 5});
  const Value second = to_spec_dict(parts, known, warnings, &first);
  CHECK(write_json(second.at("models").at("encoder")) == write_json(first.at("models").at("encoder")));
  CHECK(second.at("models").at("head").at("size") == Value(5));
}

TEST_CASE("a model without a recipe is left out with a warning, and a checkpoint refuses as a whole") {
  const auto known = known_targets();
  StrategyParts parts = whole(known);
  parts.optimizers.clear();
  parts.schedulers.clear();
  parts.models.push_back({"a", torch::nn::Linear(2, 2).ptr()});
  parts.models.push_back(
      {"b", std::make_shared<Net>(NetArguments{}), create_model_spec(known, NetArguments{.size = 7})});
  Diagnostics warnings;
  const Value dict = to_spec_dict(parts, known, warnings);
  CHECK(dict.at("models").size() == 2);
  CHECK_THAT(warnings.to_text(), Contains("W747") && Contains("Omitting model spec for 'a'") &&
                                     Contains("Omitting model spec for 'b'") && Contains("linear.weight"));
  CHECK_THROWS_WITH(
      checkpoint_spec_dict(parts, known),
      Contains("Cannot save strategy checkpoint because model spec generation failed for model(s) [a, b]") &&
          Contains("says nothing of how it was built"));
}

TEST_CASE("functions are recorded by name only: an object without one is refused, naming the field") {
  const auto known = known_targets();
  StrategyParts parts = whole(known);
  parts.training_fn = TrainingFunctionRef(std::make_shared<Pass>());
  Diagnostics warnings;
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings), Contains("E748") && Contains("training_fn"));

  Value dict = to_spec_dict(whole(known), known, warnings);
  const auto passed = std::make_shared<Pass>();
  CHECK(from_spec_dict(dict, known, {.training_fn = TrainingFunctionRef(passed)}).training_fn == passed);
  dict.erase("training_fn");
  CHECK_THROWS_WITH(from_spec_dict(dict, known),
                    Contains("training_fn is neither recorded nor passed") && Contains("pass it"));
  dict.set("training_fn", "acme.metrics:one");
  CHECK_THROWS_WITH(from_spec_dict(dict, known), Contains("no TrainingFunction"));
  dict.set("training_fn", "os.system");
  CHECK_THROWS_WITH(from_spec_dict(dict, known), Contains("E733"));
}

TEST_CASE("a weight schedule gives the recipe of a weight schedule, or is refused with its index") {
  const auto known = known_targets();
  StrategyParts parts = whole(known);
  Diagnostics warnings;
  parts.losses[1].weight = std::make_shared<SilentRamp>();
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings),
                    Contains("losses[1].weight") && Contains("to_spec()"));
  parts.losses[1].weight = std::make_shared<LyingRamp>(Value(3));
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings),
                    Contains("losses[1].weight") && Contains("integer 3"));
  parts.losses[1].weight = std::make_shared<LyingRamp>(create_model_spec(known, NetArguments{}).to_value());
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings), Contains("losses[1].weight") && Contains("E736"));
}

TEST_CASE("hooks are passed in again, and those with state get it back by their own name") {
  class Counting final : public CheckpointableHook {
   public:
    Counting(std::string name, std::int64_t start) : count(start), name_(std::move(name)) {}
    std::string name() const override { return name_; }
    TrainingState state() const override {
      return {.tensors = {}, .scalars = Value::map({{"count", count}})};
    }
    void load_state(const TrainingState& state) override {
      if (!state.scalars.find("count")) throw std::runtime_error("count is missing");
      count = state.scalars.at("count").as_integer();
    }
    std::int64_t count;

   private:
    std::string name_;
  };
  class Silent final : public TrainingHook {
   public:
    std::string name() const override { return "silent"; }
  };
  auto states = hook_states(
      {std::make_shared<Counting>("a", 3), std::make_shared<Silent>(), std::make_shared<Counting>("b", 5)});
  CHECK(states.size() == 2);
  const auto b = std::make_shared<Counting>("b", 0), a = std::make_shared<Counting>("a", 0),
             c = std::make_shared<Counting>("c", 7);
  states["gone"] = {};
  CHECK(restore_hooks({b, c, std::make_shared<Silent>(), a}, states) == std::vector<std::string>{"gone"});
  CHECK(a->count == 3);
  CHECK(b->count == 5);
  CHECK(c->count == 7);
  states["a"].scalars = Value::map();
  CHECK_THROWS_WITH(restore_hooks({a}, states),
                    Contains("E842") && Contains("'a'") && Contains("count is missing"));
  CHECK_THROWS_WITH(hook_states({a, a}), Contains("E748") && Contains("'a'"));
}

TEST_CASE("parts that belong to none and names that are given twice are refused") {
  const auto known = known_targets();
  Diagnostics warnings;
  StrategyParts parts = whole(known);
  parts.optimizers[0].model = "encodr";
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings), Contains("'encodr'") && Contains("encoder"));
  parts = whole(known);
  parts.models[1].name = "encoder";
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings), Contains("two models are named 'encoder'"));
  parts = whole(known);
  parts.optimizers[0].recipe = create_model_spec(known, FlatArguments{});
  CHECK_THROWS_WITH(to_spec_dict(parts, known, warnings), Contains("optimizers.encoder_optimizer"));
}

TEST_CASE("every problem of a dict is reported before anything is built") {
  const auto known = known_targets();
  Diagnostics warnings;
  Value dict = to_spec_dict(whole(known), known, warnings);
  dict.find("models")->find("head")->set("width", 3);
  dict.find("optimizers")->find("encoder_optimizer")->find("spec")->set("cls_path", "acme.optim.Stil");
  dict.find("losses")->items()[0].erase("weight");
  dict.set("hooks", Value::list());
  try {
    (void)from_spec_dict(dict, known);
    FAIL("a wrong dict was taken");
  } catch (const Error& error) {
    CHECK_THAT(error.diagnostics().to_text(),
               Contains("models.head") && Contains("no argument 'width'") && Contains("acme.optim.Stil") &&
                   Contains("spec and weight are needed here") && Contains("no 'hooks'"));
  }
}

TEST_CASE("live models take the place of building") {
  const auto known = known_targets();
  Diagnostics warnings;
  const Value dict = to_spec_dict(whole(known), known, warnings);
  const auto live = std::make_shared<Net>(NetArguments{.size = 3});
  const BuiltStrategy built = from_spec_dict(dict, known, {.models = {{"encoder", live}}});
  CHECK(built.parts.models[0].module == live);
  CHECK(built.optimizers.at("encoder_optimizer")
            ->groups()
            .front()
            .parameters[0]
            .tensor.is_same(live->linear->weight));
  CHECK_THROWS_WITH(from_spec_dict(dict, known, {.models = {{"decoder", live}}}), Contains("'decoder'"));
}
