#include "train/scenario_parts.h"

#include <algorithm>

#include "scenario/learning_rate.h"
#include "train/factories.h"

namespace nexuml {
namespace {

// A call of a scenario, with every argument by name.
Recipe recipe_of_call(TargetKind kind, const std::string& factory, const Value& args, const Value& kwargs,
                      const ComponentRegistry& registry) {
  return create_model_spec(registry, factory, registry.make(kind, factory, args, kwargs)->arguments(),
                           {.kind = kind});
}

Recipe optimizer_recipe(const TrainingSpec& training, const ComponentRegistry& registry) {
  OptimizerSpec spec = training.optimizer;
  if (const auto* target = registry.find_target(spec.factory))
    spec = optimizer_with_training_lr(training, *target->entry.node);
  return recipe_of_call(TargetKind::optimizer, spec.factory, spec.args, spec.kwargs, registry);
}

Recipe scheduler_recipe(const TrainingSpec& training, const ComponentRegistry& registry) {
  const SchedulerSpec& spec = training.scheduler;
  return recipe_of_call(TargetKind::scheduler, spec.factory, spec.args, spec.kwargs, registry);
}

}  // namespace

TrainingStrategy scenario_strategy(const ScenarioSpec& scenario,
                                   const std::shared_ptr<CompiledPipeline>& pipeline,
                                   const ComponentRegistry& registry, std::int64_t steps_per_epoch) {
  const TrainingSpec& training = scenario.training;
  TrainingStrategy strategy(
      registry, {std::max<std::int64_t>(training.max_epochs, 1), std::max<std::int64_t>(steps_per_epoch, 1)});
  strategy.models.push_back({.name = "pipeline",
                             .module = pipeline,
                             .recipe = pipeline_recipe(*pipeline, scenario, registry),
                             .verify = false});
  const auto optimizer = build_optimizer(training, registry, parameters_of(*pipeline));
  strategy.optimizers.push_back(
      {"pipeline_optimizer", "pipeline", optimizer_recipe(training, registry), optimizer});
  strategy.schedulers.push_back({"pipeline_scheduler", "pipeline_optimizer",
                                 scheduler_recipe(training, registry),
                                 resolve_warmup(training.scheduler, training.max_epochs),
                                 build_scheduler(training, registry, *optimizer, steps_per_epoch)});
  return strategy;
}

}  // namespace nexuml
