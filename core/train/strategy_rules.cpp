#include "train/strategy_rules.h"

#include <set>

namespace nexuml {

namespace {

template <class Part>
void require_names(const std::vector<Part>& parts, const char* what) {
  std::set<std::string> names;
  for (const Part& part : parts) {
    if (part.name.empty()) throw Error("E748", fmt::format("a {} has no name", what));
    if (!names.insert(part.name).second)
      throw Error("E748", fmt::format("two {}s are named '{}'", what, part.name));
  }
}

// With several models the names of weights begin with the model's.
void require_no_dots(const std::vector<StrategyModel>& models) {
  for (const StrategyModel& model : models)
    if (model.name.find_first_of("./") != std::string::npos)
      throw Error("E748",
                  fmt::format("the model '{}' cannot be told from a part of another by its name", model.name),
                  {}, "leave out dots and slashes, which separate the names of weights");
}

}  // namespace

void require_recipe_kind(const Recipe& recipe, TargetKind kind, const std::string& owner) {
  if (recipe.cls_path().empty())
    throw Error("E748", fmt::format("{} has no recipe: it could not be rebuilt", owner));
  if (recipe.kind() != kind)
    throw Error("E748", fmt::format("{}: {} is a {}, a {} is needed", owner, recipe.cls_path(),
                                    to_string(recipe.kind()), to_string(kind)));
}

void check_strategy_parts(const std::vector<StrategyModel>& models,
                          const std::vector<StrategyOptimizer>& optimizers,
                          const std::vector<StrategyScheduler>& schedulers,
                          const std::vector<StrategyLoss>& losses) {
  require_names(models, "model");
  require_no_dots(models);
  require_names(optimizers, "optimizer");
  require_names(schedulers, "scheduler");
  for (const auto& optimizer : optimizers) {
    (void)part_named(models, optimizer.model, fmt::format("the optimizer '{}'", optimizer.name), "model");
    require_recipe_kind(optimizer.recipe, TargetKind::optimizer,
                        fmt::format("optimizers.{}", optimizer.name));
  }
  for (const auto& scheduler : schedulers) {
    (void)part_named(optimizers, scheduler.optimizer, fmt::format("the scheduler '{}'", scheduler.name),
                     "optimizer");
    require_recipe_kind(scheduler.recipe, TargetKind::scheduler,
                        fmt::format("schedulers.{}", scheduler.name));
  }
  for (std::size_t i = 0; i < losses.size(); ++i)
    require_recipe_kind(losses[i].recipe, TargetKind::loss, fmt::format("losses[{}]", i));
}

}  // namespace nexuml
