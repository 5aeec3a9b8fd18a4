// The parts of a TrainingStrategy (training_strategy.h): each with its recipe and, while it lives, its
// object.
//
// A schedule of one's own says how it is rebuilt:
//
//     class Ramp : public nexuml::ScheduleFrom<RampArguments> {
//      public:
//       using ScheduleFrom::ScheduleFrom;
//       double weight(std::int64_t step, std::int64_t epoch) const override;
//     };
//
// A hook whose state belongs into checkpoints derives from CheckpointableHook; other hooks have none.
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>
#include <nexuml/recipe.h>
#include <nexuml/training.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {

// A weight schedule that says how to rebuild it.
class NEXUML_EXPORT DescribedSchedule : public WeightSchedule {
 public:
  ~DescribedSchedule() override;
  // A recipe of kind weight_schedule (Recipe::to_value()). [any thread]
  virtual Value to_spec(const ComponentRegistry& registry) const = 0;
};
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

struct NamedCallback {
  std::string name;  // unique; names its state in checkpoints
  std::shared_ptr<Callback> callback;
};

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
  std::shared_ptr<Optimizer> optimizer = nullptr;
};
struct StrategyScheduler {
  std::string name;
  std::string optimizer;
  Recipe recipe;
  std::int64_t warmup_epochs = 0;
  std::shared_ptr<Scheduler> scheduler = nullptr;
};
using LossWeight = std::variant<double, std::shared_ptr<WeightSchedule>>;
struct StrategyLoss {
  Recipe recipe;
  LossWeight weight = 1.0;
  std::string key = {};  // what it compares, in the outputs and in the targets
  std::shared_ptr<LossFunction> function = nullptr;
};

// Recipes inside a value with their times left out: equal where nothing but times differs.
NEXUML_EXPORT Value without_timestamps(const Value& value);

}  // namespace nexuml
