#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/recipe_build.h>
#include <nexuml/training_strategy.h>

#include <algorithm>

#include "train/factories.h"
#include "train/strategy_rules.h"

namespace nexuml {

DescribedSchedule::~DescribedSchedule() = default;
CheckpointableHook::~CheckpointableHook() = default;

Value TrainingFunction::operator()(const TensorDict&) const {
  throw Error("E748", "a training function is called with models and a batch");
}

std::shared_ptr<const TrainingFunction> TrainingFunctionRef::resolve(
    const ComponentRegistry& registry) const {
  if (object_ || name_.empty()) return object_;
  const auto function = registry.make<TargetKind::function>(name_)->build(FunctionBuildContext{});
  auto training = std::dynamic_pointer_cast<const TrainingFunction>(function);
  if (!training)
    throw Error("E748", fmt::format("training_fn: '{}' is a function, but no TrainingFunction", name_));
  return training;
}

Value without_timestamps(const Value& value) {
  Value result = value;
  if (value.is_list())
    for (std::size_t i = 0; i < value.size(); ++i) result.items()[i] = without_timestamps(value.items()[i]);
  if (!value.is_map()) return result;
  if (looks_like_recipe(value)) result.erase("timestamp");
  for (Value::Entry& entry : result.entries()) entry.value = without_timestamps(Value(entry.value));
  return result;
}

namespace {

// The part of that name, or the only one there is.
template <class Part>
const Part& only_or_named(const std::vector<Part>& parts, std::string_view name, const char* what) {
  if (name.empty() && parts.size() == 1) return parts.front();
  const auto found = std::ranges::find(parts, name, &Part::name);
  if (found != parts.end() && !name.empty()) return *found;
  throw Error("E748",
              name.empty() ? fmt::format("which {} is meant? There are {}", what, parts.size())
                           : fmt::format("there is no {} '{}'", what, name),
              {}, parts.empty() ? "" : fmt::format("there are: {}", fmt::join(part_names(parts), ", ")));
}

template <class Object>
Object& living(const std::shared_ptr<Object>& object, const char* what, std::string_view name) {
  if (!object) throw Error("E748", fmt::format("the {} '{}' was not built", what, name));
  return *object;
}

// `net_optimizer` belongs to `net`; its scheduler is `net_scheduler`.
std::string scheduler_name(std::string optimizer) {
  constexpr std::string_view ending = "_optimizer";
  if (optimizer.ends_with(ending)) optimizer.resize(optimizer.size() - ending.size());
  return optimizer + "_scheduler";
}

template <class Part>
void require_free(const std::vector<Part>& parts, const std::string& name, const char* what) {
  if (name.empty()) throw Error("E748", fmt::format("a {} has no name", what));
  if (std::ranges::find(parts, name, &Part::name) != parts.end())
    throw Error("E748", fmt::format("two {}s are named '{}'", what, name));
}

}  // namespace

void TrainingStrategy::add_model(std::string name, std::shared_ptr<torch::nn::Module> module,
                                 std::optional<Recipe> recipe) {
  require_free(models, name, "model");
  if (!module) throw Error("E748", fmt::format("the model '{}' is null", name));
  models.push_back({std::move(name), std::move(module), std::move(recipe)});
}

Optimizer& TrainingStrategy::add_optimizer(const std::string& model, Recipe recipe, std::string name) {
  if (name.empty()) name = model + "_optimizer";
  require_free(optimizers, name, "optimizer");
  const StrategyModel& owner = part_named(models, model, fmt::format("the optimizer '{}'", name), "model");
  require_recipe_kind(recipe, TargetKind::optimizer, fmt::format("optimizers.{}", name));
  auto optimizer =
      build<TargetKind::optimizer>(recipe, registry_, {{"params", parameters_of(*owner.module)}});
  optimizers.push_back({std::move(name), model, std::move(recipe), std::move(optimizer)});
  return *optimizers.back().optimizer;
}

Scheduler& TrainingStrategy::add_scheduler(const std::string& optimizer, Recipe recipe, std::string name,
                                           std::int64_t warmup_epochs) {
  if (name.empty()) name = scheduler_name(optimizer);
  require_free(schedulers, name, "scheduler");
  const StrategyOptimizer& owner =
      part_named(optimizers, optimizer, fmt::format("the scheduler '{}'", name), "optimizer");
  require_recipe_kind(recipe, TargetKind::scheduler, fmt::format("schedulers.{}", name));
  auto scheduler = build<TargetKind::scheduler>(recipe, registry_,
                                                {{"optimizer", owner.optimizer.get()},
                                                 {"max_epochs", length_.max_epochs},
                                                 {"steps_per_epoch", length_.steps_per_epoch},
                                                 {"warmup_epochs", warmup_epochs}});
  schedulers.push_back({std::move(name), optimizer, std::move(recipe), warmup_epochs, std::move(scheduler)});
  return *schedulers.back().scheduler;
}

void TrainingStrategy::add_loss(Recipe recipe, LossWeight weight, std::string key) {
  require_recipe_kind(recipe, TargetKind::loss, fmt::format("losses[{}]", losses.size()));
  auto function = build<TargetKind::loss>(recipe, registry_);
  losses.push_back({std::move(recipe), std::move(weight), std::move(key), std::move(function)});
}

void TrainingStrategy::add_hook(std::shared_ptr<TrainingHook> hook) {
  if (!hook) throw Error("E748", "a hook is null");
  std::string name = hook->name();
  if (std::ranges::find(callbacks, name, &NamedCallback::name) != callbacks.end())
    throw Error("E748", fmt::format("two hooks are named '{}': their states could not be told apart", name),
                {}, "give each a name of its own");
  callbacks.push_back({std::move(name), std::move(hook)});
}

torch::nn::Module& TrainingStrategy::model(std::string_view name) const {
  const StrategyModel& found = only_or_named(models, name, "model");
  return living(found.module, "model", found.name);
}

Optimizer& TrainingStrategy::optimizer(std::string_view name) const {
  const StrategyOptimizer& found = only_or_named(optimizers, name, "optimizer");
  return living(found.optimizer, "optimizer", found.name);
}

Scheduler& TrainingStrategy::scheduler(std::string_view name) const {
  const StrategyScheduler& found = only_or_named(schedulers, name, "scheduler");
  return living(found.scheduler, "scheduler", found.name);
}

StrategyModels TrainingStrategy::named_models() const {
  StrategyModels named;
  for (const StrategyModel& entry : models) named.append(entry.name, entry.module);
  return named;
}

namespace {

const at::Tensor& compared(const TensorDict& from, const std::string& key, const char* what) {
  if (!key.empty()) return from.get(key);
  if (from.size() == 1) return from.begin()->second;
  throw Error("E748",
              fmt::format("a loss without a key compares the only one of the {}; there are {}: {}", what,
                          from.size(), fmt::join(from.keys(), ", ")),
              {}, "name the key: add_loss(recipe, weight, key)");
}

double weight_now(const LossWeight& weight, const TrainingCounters& counters) {
  const auto* schedule = std::get_if<std::shared_ptr<WeightSchedule>>(&weight);
  return schedule ? (*schedule)->weight(counters.global_step, counters.epoch) : std::get<double>(weight);
}

}  // namespace

at::Tensor TrainingStrategy::loss(const Batch& batch) const {
  if (!training_fn.has_value())
    throw Error("E748", "there is no training_fn, so nothing says what the losses compare", {},
                "set training_fn, or compute the loss by hand");
  if (losses.empty()) throw Error("E748", "there is no loss", {}, "add one: add_loss(recipe)");
  if (!loss_target_assembler && !batch.y)
    throw Error("E748", "the batch has no labels for the losses to compare with", {},
                "set loss_target_assembler");
  if (!function_) function_ = training_fn.resolve(registry_);
  const TensorDict outputs = function_->forward(named_models(), batch);
  const TensorDict targets = loss_target_assembler ? loss_target_assembler(batch) : *batch.y;
  at::Tensor total;
  for (const StrategyLoss& term : losses) {
    const at::Tensor value = living(term.function, "loss", term.key)(compared(outputs, term.key, "outputs"),
                                                                     compared(targets, term.key, "targets")) *
                             weight_now(term.weight, counters);
    total = total.defined() ? total + value : value;
  }
  return total;
}

}  // namespace nexuml
