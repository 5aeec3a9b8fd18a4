#include "train/scenario_parts.h"

#include "scenario/learning_rate.h"

namespace nexuml {
namespace {

// A call of a scenario, with every argument by name.
Recipe recipe_of_call(TargetKind kind, const std::string& factory, const Value& args, const Value& kwargs,
                      const ComponentRegistry& registry) {
  return create_model_spec(registry, factory, registry.make(kind, factory, args, kwargs)->arguments(),
                           {.kind = kind});
}

}  // namespace

StrategyParts scenario_parts(const ScenarioSpec& scenario, const std::shared_ptr<CompiledPipeline>& pipeline,
                             const ComponentRegistry& registry) {
  OptimizerSpec optimizer = scenario.training.optimizer;
  if (const auto* target = registry.find_target(optimizer.factory))
    optimizer = optimizer_with_training_lr(scenario.training, *target->entry.node);
  const SchedulerSpec& scheduler = scenario.training.scheduler;
  StrategyParts parts;
  parts.models.push_back({.name = "pipeline",
                          .module = pipeline,
                          .recipe = pipeline_recipe(*pipeline, scenario, registry),
                          .verify = false});
  parts.optimizers.push_back(
      {"pipeline_optimizer", "pipeline",
       recipe_of_call(TargetKind::optimizer, optimizer.factory, optimizer.args, optimizer.kwargs, registry)});
  parts.schedulers.push_back(
      {"pipeline_scheduler", "pipeline_optimizer",
       recipe_of_call(TargetKind::scheduler, scheduler.factory, scheduler.args, scheduler.kwargs, registry)});
  return parts;
}

}  // namespace nexuml
