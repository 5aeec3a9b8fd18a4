// A strategy as recipes, and built from them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/recipe_build.h>
#include <nexuml/training_strategy.h>

#include "train/strategy_dict.h"
#include "train/strategy_rules.h"

namespace nexuml {

Value TrainingStrategy::spec_dict(const Value* previous, std::vector<OmittedModel>& omitted) const {
  if (!verified_) verified_ = std::make_shared<VerifiedRecipes>();
  return write_strategy_dict(*this, previous, *verified_, omitted);
}

Value TrainingStrategy::to_spec_dict(Diagnostics& warnings, const Value* previous) const {
  std::vector<OmittedModel> omitted;
  Value dict = spec_dict(previous, omitted);
  for (const OmittedModel& model : omitted)
    warnings.warning("W747", fmt::format("Omitting model spec for '{}': {}", model.name, model.cause));
  return dict;
}

Value TrainingStrategy::checkpoint_spec_dict(const Value* previous) const {
  std::vector<OmittedModel> omitted;
  Value dict = spec_dict(previous, omitted);
  if (omitted.empty()) return dict;
  std::vector<std::string> names, causes;
  for (const OmittedModel& model : omitted) {
    names.push_back(model.name);
    causes.push_back(fmt::format("{}: {}", model.name, model.cause));
  }
  throw Error(
      "E748",
      fmt::format(
          "Cannot save strategy checkpoint because model spec generation failed for model(s) [{}]: {}",
          fmt::join(names, ", "), fmt::join(causes, "; ")),
      {}, "nothing was written");
}

// Builds the parts of a dict in the order in which they need one another.
class StrategyBuilder {
 public:
  StrategyBuilder(StrategyDict dict, const ComponentRegistry& registry, const StrategyOverrides& overrides)
      : dict_(std::move(dict)),
        overrides_(overrides),
        strategy_(registry, overrides.length.value_or(dict_.length)) {}

  TrainingStrategy build() {
    for (const auto& [name, module] : overrides_.models)
      (void)part_named(dict_.models, name, "a model that was passed", "model");
    take_callables();
    for (const auto& hook : overrides_.hooks) strategy_.add_hook(hook);
    strategy_.device = overrides_.device;
    for (StrategyModel& model : dict_.models) {
      const auto* live = overrides_.models.find(model.name);
      model.module =
          live ? *live : build_model(*model.recipe, strategy_.registry(), {{"device", overrides_.device}});
      strategy_.models.push_back(std::move(model));
    }
    for (auto& optimizer : dict_.optimizers)
      strategy_.add_optimizer(optimizer.model, std::move(optimizer.recipe), std::move(optimizer.name));
    for (auto& scheduler : dict_.schedulers)
      strategy_.add_scheduler(scheduler.optimizer, std::move(scheduler.recipe), std::move(scheduler.name),
                              scheduler.warmup_epochs);
    for (std::size_t i = 0; i < dict_.losses.size(); ++i) {
      StrategyLoss& loss = dict_.losses[i];
      if (dict_.weights[i]) loss.weight = built_weight(*dict_.weights[i]);
      strategy_.add_loss(std::move(loss.recipe), std::move(loss.weight), std::move(loss.key));
    }
    return std::move(strategy_);
  }

 private:
  void take_callables() {
    if (!overrides_.training_fn.has_value() && !dict_.tells_training_fn)
      throw Error("E748", "training_fn is neither recorded nor passed", {},
                  "pass it: .training_fn = TrainingFunctionRef::named(\"acme.train:step\")");
    strategy_.training_fn =
        overrides_.training_fn.has_value() ? overrides_.training_fn : std::move(dict_.training_fn);
    strategy_.function_ = strategy_.training_fn.resolve(strategy_.registry());
    if (!overrides_.loss_target_assembler && dict_.had_loss_target_assembler)
      throw Error("E748",
                  "the strategy had a loss_target_assembler, which is never written down and was not passed",
                  {}, "pass it: .loss_target_assembler = [](const Batch& batch) { ... }");
    strategy_.loss_target_assembler = overrides_.loss_target_assembler;
  }
  std::shared_ptr<WeightSchedule> built_weight(const Recipe& recipe) const {
    return nexuml::build<TargetKind::weight_schedule>(
        recipe, strategy_.registry(),
        {{"max_epochs", strategy_.length().max_epochs},
         {"steps_per_epoch", strategy_.length().steps_per_epoch}});
  }

  StrategyDict dict_;
  const StrategyOverrides& overrides_;
  TrainingStrategy strategy_;
};

TrainingStrategy TrainingStrategy::from_spec_dict(const Value& dict, const ComponentRegistry& registry,
                                                  const StrategyOverrides& overrides) {
  return StrategyBuilder(read_strategy_dict(dict, registry), registry, overrides).build();
}

}  // namespace nexuml
