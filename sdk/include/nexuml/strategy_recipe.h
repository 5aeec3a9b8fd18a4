// The recipe of a whole training: models, optimizers, schedulers, losses with their weights, the training
// function.
//
//     StrategyParts parts;
//     parts.models = {{"encoder", encoder}, {"head", head}};
//     parts.optimizers = {{"encoder_optimizer", "encoder", adam_recipe}};
//     parts.schedulers = {{"encoder_scheduler", "encoder_optimizer", cosine_recipe}};
//     parts.losses = {{mse_recipe, 1.0}};
//     Value dict = to_spec_dict(parts, registry, warnings);                 // JSON; a checkpoint keeps it
//     BuiltStrategy again = from_spec_dict(dict, registry, {.training_fn = my_function});
//
// A model that gives no recipe (model_recipe.h) is left out with the warning `Omitting model spec for
// '<name>'`; `checkpoint_spec_dict` refuses the whole instead. Functions are named by registered targets of
// kind function: a function object without a name is refused, because nothing in a file could stand for it.
// Hooks and the function that assembles the losses' targets are never written; they are passed in again.
// [training thread]
#pragma once

#include <nexuml/export.h>
#include <nexuml/function.h>
#include <nexuml/model_recipe.h>
#include <nexuml/ordered_map.h>
#include <nexuml/recipe.h>
#include <nexuml/recipe_build.h>
#include <nexuml/tensor_dict.h>
#include <nexuml/training.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nexuml {

using StrategyModels = OrderedMap<std::shared_ptr<torch::nn::Module>>;

// One forward pass: what the losses compare, by name. A target of kind function builds one.
class NEXUML_EXPORT TrainingFunction : public Function {
 public:
  // [training thread]
  virtual TensorDict forward(const StrategyModels& models, const Batch& batch) const = 0;
  Value operator()(const TensorDict& inputs) const final;  // throws Error E748: it needs models
};

// A function by the name of its target, or an object that has no name and can only be passed.
class NEXUML_EXPORT TrainingFunctionRef {
 public:
  TrainingFunctionRef() = default;  // none
  static TrainingFunctionRef named(std::string target) {
    TrainingFunctionRef ref;
    ref.name_ = std::move(target);
    return ref;
  }
  // A lambda, a local or a bound function: works, and cannot be written down.
  TrainingFunctionRef(std::shared_ptr<const TrainingFunction> object) : object_(std::move(object)) {}

  bool has_value() const noexcept { return object_ || !name_.empty(); }
  const std::string& name() const noexcept { return name_; }  // empty for an object
  // The object, or what the named target builds. Throws Error E748 for a target that builds another function.
  std::shared_ptr<const TrainingFunction> resolve(const ComponentRegistry& registry) const;

 private:
  std::string name_;
  std::shared_ptr<const TrainingFunction> object_;
};

// A weight schedule that says how to rebuild it.
class NEXUML_EXPORT DescribedSchedule : public WeightSchedule {
 public:
  ~DescribedSchedule() override;
  // A recipe of kind weight_schedule (Recipe::to_value()). [any thread]
  virtual Value to_spec(const ComponentRegistry& registry) const = 0;
};
// The usual one: `class Ramp : public ScheduleFrom<RampArguments>`.
template <Described Arguments>
class ScheduleFrom : public DescribedSchedule {
 public:
  explicit ScheduleFrom(Arguments arguments) : arguments_(std::move(arguments)) {}
  const Arguments& arguments() const noexcept { return arguments_; }
  Value to_spec(const ComponentRegistry& registry) const override {
    return create_model_spec(registry, arguments_).to_value();
  }

 private:
  Arguments arguments_;
};

// State of a hook goes into checkpoints only where the hook says so; `name()` is its key.
class NEXUML_EXPORT CheckpointableHook : public TrainingHook {
 public:
  ~CheckpointableHook() override;
  TrainingState state() const override = 0;
  void load_state(const TrainingState& state) override = 0;
};

// The states of those hooks that are checkpointable, by name; the others are no part of it. Throws Error E748
// for two hooks of one name. [training thread]
NEXUML_EXPORT OrderedMap<TrainingState> hook_states(const std::vector<std::shared_ptr<TrainingHook>>& hooks);
// Gives each checkpointable hook the state under its own name, whatever the order. Returns the names of
// states that no hook takes. A hook without a state stays as it is. Throws Error E842 naming the hook whose
// state does not fit.
NEXUML_EXPORT std::vector<std::string> restore_hooks(const std::vector<std::shared_ptr<TrainingHook>>& hooks,
                                                     const OrderedMap<TrainingState>& states);

struct StrategyModel {
  std::string name;
  std::shared_ptr<torch::nn::Module> module;
  std::optional<Recipe> recipe = std::nullopt;  // else the model is asked
  bool verify = true;  // the given recipe: false where the model was built from it just now
};
struct StrategyOptimizer {
  std::string name;
  std::string model;
  Recipe recipe;
};
struct StrategyScheduler {
  std::string name;
  std::string optimizer;
  Recipe recipe;
};
struct StrategyLoss {
  Recipe recipe;
  std::variant<double, std::shared_ptr<WeightSchedule>> weight = 1.0;
};

struct StrategyParts {
  std::vector<StrategyModel> models;
  std::vector<StrategyOptimizer> optimizers;
  std::vector<StrategyScheduler> schedulers;
  std::vector<StrategyLoss> losses;
  TrainingFunctionRef training_fn;
};

// {"models": {name: recipe}, "optimizers": {name: {"model", "spec"}}, "schedulers": {name: {"optimizer",
// "spec"}}, "losses": [{"spec", "weight"}], "training_fn": name or null}. Models that give no recipe are left
// out with W747. What is as it was in `previous` (a dict of an earlier moment) is taken from there, byte for
// byte: times stay. Throws Error E748 for two parts of one name, a part that refers to none, a training
// function without a name, and a weight schedule whose to_spec() gives no recipe of a weight schedule (with
// its index).
NEXUML_EXPORT Value to_spec_dict(const StrategyParts& parts, const ComponentRegistry& registry,
                                 Diagnostics& warnings, const Value* previous = nullptr);

// The same for a checkpoint: throws Error E748 `Cannot save strategy checkpoint because model spec generation
// failed for model(s) [a, b]`, each with its cause. Call it before anything is written.
NEXUML_EXPORT Value checkpoint_spec_dict(const StrategyParts& parts, const ComponentRegistry& registry,
                                         const Value* previous = nullptr);

struct StrategyOverrides {
  TrainingFunctionRef training_fn = {};  // wins over the recorded one
  StrategyModels models = {};            // live ones, used in place of building
  at::Device device = at::kCPU;
  std::int64_t max_epochs = 1;       // for schedulers and weight schedules
  std::int64_t steps_per_epoch = 1;  // likewise
};

struct BuiltStrategy {
  StrategyParts parts;  // the recipes, with the models that were built
  OrderedMap<std::shared_ptr<Optimizer>> optimizers;
  OrderedMap<std::shared_ptr<Scheduler>> schedulers;
  struct Loss {
    std::shared_ptr<LossFunction> function;
    std::shared_ptr<WeightSchedule> schedule;  // null: `weight` is constant
    double weight = 1.0;
  };
  std::vector<Loss> losses;
  std::shared_ptr<const TrainingFunction> training_fn;  // null where the dict says that there is none
};

// Checks everything before it builds anything, and reports every problem at once. Throws Error E748 where the
// dict is malformed, and where `training_fn` is neither recorded nor passed.
NEXUML_EXPORT BuiltStrategy from_spec_dict(const Value& dict, const ComponentRegistry& registry,
                                           const StrategyOverrides& overrides = {});

// Recipes inside a value with their times left out: equal where nothing but times differs.
NEXUML_EXPORT Value without_timestamps(const Value& value);

}  // namespace nexuml
