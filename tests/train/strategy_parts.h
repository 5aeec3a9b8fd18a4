// Targets of a small hand-written training: what a library of a stranger would register.
#pragma once

#include <ATen/ops/dropout.h>
#include <ATen/ops/mse_loss.h>
#include <nexuml/training_strategy.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/momentum_descent.h"

namespace nexuml::test {

struct NetArguments {
  std::int64_t size = 2;
  double dropout = 0;
  static void describe(Schema<NetArguments>& s) {
    s.field("size", &NetArguments::size).at_least(1);
    s.field("dropout", &NetArguments::dropout);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Net : public torch::nn::Module, public BuiltFrom<NetArguments> {
 public:
  explicit Net(const NetArguments& arguments) : BuiltFrom(arguments) {
    ++built;
    linear = register_module("linear", torch::nn::Linear(arguments.size, arguments.size));
  }
  at::Tensor forward(const at::Tensor& input) {
    return at::dropout(linear->forward(input), arguments().dropout, is_training());
  }
  torch::nn::Linear linear{nullptr};
  static inline int built = 0;
};
inline std::shared_ptr<TensorModule> NetArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Net>(*this));
}

struct MomentumArguments {
  double lr = 0.5;
  static void describe(Schema<MomentumArguments>& s) { s.field("lr", &MomentumArguments::lr); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext& context) const {
    return std::make_shared<MomentumDescent>(context, lr);
  }
};

// The lr falls in a straight line over the whole training, `max_epochs` of it.
class Falling final : public Scheduler {
 public:
  explicit Falling(const SchedulerBuildContext& context)
      : Scheduler(context.optimizer), epochs(context.max_epochs), warmup(context.warmup_epochs) {}
  const std::int64_t epochs, warmup;

 protected:
  double next_lr(std::size_t, double base, double) const override {
    return base * (1.0 - static_cast<double>(steps_taken()) / static_cast<double>(epochs + 1));
  }
};
struct FallingArguments {
  static void describe(Schema<FallingArguments>&) {}
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return std::make_shared<Falling>(context);
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
inline std::shared_ptr<WeightSchedule> RampArguments::build(const WeightScheduleBuildContext&) const {
  return std::make_shared<Ramp>(*this);
}

// `prediction`: what all models make of `input`, one after the other.
class Chained : public TrainingFunction {
 public:
  TensorDict forward(const StrategyModels& models, const Batch& batch) const override {
    at::Tensor value = batch.x.get("input");
    for (const auto& [name, model] : models) value = std::dynamic_pointer_cast<Net>(model)->forward(value);
    return {{"prediction", value}};
  }
};
struct ChainedArguments {
  static void describe(Schema<ChainedArguments>&) {}
  std::shared_ptr<Function> build(const FunctionBuildContext&) const { return std::make_shared<Chained>(); }
};
class Metric final : public Function {
 public:
  Value operator()(const TensorDict&) const override { return 1; }
};
struct MetricArguments {
  static void describe(Schema<MetricArguments>&) {}
  std::shared_ptr<Function> build(const FunctionBuildContext&) const { return std::make_shared<Metric>(); }
};

class CountingHook final : public CheckpointableHook {
 public:
  explicit CountingHook(std::string name, std::int64_t start = 0) : count(start), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  TrainingState state() const override { return {.tensors = {}, .scalars = Value::map({{"count", count}})}; }
  void load_state(const TrainingState& state) override {
    if (!state.scalars.find("count")) throw std::runtime_error("count is missing");
    count = state.scalars.at("count").as_integer();
  }
  std::int64_t count;

 private:
  std::string name_;
};
// Has a state to give, but does not say that it belongs into checkpoints.
class SilentHook final : public TrainingHook {
 public:
  std::string name() const override { return "silent"; }
  TrainingState state() const override { return {.tensors = {}, .scalars = Value::map({{"secret", 1}})}; }
};

inline void register_strategy_targets(Registration& r) {
  r.add_target<NetArguments>("acme.nn:Net");
  r.add_target<MomentumArguments>("acme.optim:Momentum", {.injected = {"params"}});
  r.add_target<FallingArguments>("acme.optim:Falling", {.injected = {"optimizer"}});
  r.add_target<SquaredErrorArguments>("acme.losses:SquaredError");
  r.add_target<RampArguments>("acme.losses:Ramp");
  r.add_target<ChainedArguments>("acme.train:step");
  r.add_target<MetricArguments>("acme.metrics:one");
}
inline ComponentRegistry strategy_targets() {
  return ComponentRegistry().with_program(register_strategy_targets);
}

// Two models, an optimizer and a scheduler for the first, two losses.
inline TrainingStrategy whole_strategy(const ComponentRegistry& known, double dropout = 0) {
  TrainingStrategy strategy(known, {.max_epochs = 4, .steps_per_epoch = 3});
  strategy.add_model("encoder", std::make_shared<Net>(NetArguments{.size = 3, .dropout = dropout}));
  strategy.add_model("head", std::make_shared<Net>(NetArguments{.size = 3}));
  strategy.add_optimizer("encoder", create_model_spec(known, MomentumArguments{.lr = 0.25}));
  strategy.add_scheduler("encoder_optimizer", create_model_spec(known, FallingArguments{}), {}, 2);
  strategy.add_loss(create_model_spec(known, SquaredErrorArguments{}), 0.75);
  strategy.add_loss(create_model_spec(known, SquaredErrorArguments{}),
                    std::make_shared<Ramp>(RampArguments{.end = 4, .scale = 0.25}));
  strategy.training_fn = TrainingFunctionRef::named("acme.train:step");
  return strategy;
}

}  // namespace nexuml::test
