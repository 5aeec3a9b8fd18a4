#include <fmt/format.h>
#include <fmt/ranges.h>

#include "train/model_outline.h"
#include "train/strategy_dict.h"
#include "train/strategy_rules.h"

namespace nexuml {

namespace {

// `current`, with every part that equals that of `previous` but for times taken from there.
Value unchanged_from(const Value* previous, const Value& current) {
  if (!previous) return current;
  if (without_timestamps(*previous) == without_timestamps(current)) return *previous;
  if (!current.is_map() || !previous->is_map()) return current;
  Value result = current;
  for (Value::Entry& entry : result.entries())
    entry.value = unchanged_from(previous->find(entry.key), Value(entry.value));
  return result;
}

Value weight_spec(const StrategyLoss& loss, std::size_t index, const ComponentRegistry& registry) {
  if (const auto* constant = std::get_if<double>(&loss.weight)) return *constant;
  const auto& schedule = std::get<std::shared_ptr<WeightSchedule>>(loss.weight);
  const std::string place = fmt::format("losses[{}].weight", index);
  const auto* described = dynamic_cast<const DescribedSchedule*>(schedule.get());
  if (!described)
    throw Error("E748", fmt::format("{}: a weight is a number or a schedule with to_spec()", place), {},
                "derive the schedule from ScheduleFrom<Arguments>");
  const Value spec = described->to_spec(registry);
  if (!looks_like_recipe(spec))
    throw Error("E748", fmt::format("{}: to_spec() has to give the recipe of a weight schedule, got {}",
                                    place, describe_for_message(spec)));
  return create_model_spec_from_json(registry, spec, {.kind = TargetKind::weight_schedule, .key_path = place})
      .to_value();
}

void require_named_function(const TrainingFunctionRef& function) {
  if (!function.has_value() || !function.name().empty()) return;
  throw Error("E748",
              "training_fn: a function object (a lambda, a local or a bound function) has no name that a "
              "recipe could hold",
              {},
              "register it as a target of kind function and name it: "
              "TrainingFunctionRef::named(\"acme.train:step\")");
}

std::string all_messages(const Error& failure) {
  std::vector<std::string> messages;
  for (const Diagnostic& problem : failure.diagnostics()) messages.push_back(problem.message);
  return fmt::format("{}", fmt::join(messages, "; "));
}

Value models_spec(const TrainingStrategy& strategy, VerifiedRecipes& verified,
                  std::vector<OmittedModel>& omitted) {
  Value models = Value::map();
  for (const StrategyModel& model : strategy.models) {
    try {
      models.set(model.name, verified.recipe_of(model, strategy.registry()).to_value());
    } catch (const Error& failure) {
      omitted.push_back({model.name, all_messages(failure)});
    }
  }
  return models;
}

Value optimizers_spec(const TrainingStrategy& strategy) {
  Value optimizers = Value::map();
  for (const auto& optimizer : strategy.optimizers)
    optimizers.set(optimizer.name,
                   Value::map({{"model", optimizer.model}, {"spec", optimizer.recipe.to_value()}}));
  return optimizers;
}

Value schedulers_spec(const TrainingStrategy& strategy) {
  Value schedulers = Value::map();
  for (const auto& scheduler : strategy.schedulers) {
    Value spec = Value::map({{"optimizer", scheduler.optimizer}, {"spec", scheduler.recipe.to_value()}});
    if (scheduler.warmup_epochs > 0) spec.set("warmup_epochs", scheduler.warmup_epochs);
    schedulers.set(scheduler.name, std::move(spec));
  }
  return schedulers;
}

Value losses_spec(const TrainingStrategy& strategy) {
  Value losses = Value::list();
  for (std::size_t i = 0; i < strategy.losses.size(); ++i) {
    const StrategyLoss& loss = strategy.losses[i];
    Value spec =
        Value::map({{"spec", loss.recipe.to_value()}, {"weight", weight_spec(loss, i, strategy.registry())}});
    if (!loss.key.empty()) spec.set("key", loss.key);
    losses.push_back(std::move(spec));
  }
  return losses;
}

}  // namespace

Recipe VerifiedRecipes::recipe_of(const StrategyModel& model, const ComponentRegistry& registry) {
  if (!model.module) throw Error("E747", "there is no module");
  if (model.recipe) require_recipe_kind(*model.recipe, TargetKind::module, "its recipe");
  Recipe recipe = model.recipe ? *model.recipe : claimed_recipe(*model.module, registry);
  if (model.recipe && !model.verify) return recipe;
  Seen seen{write_json(without_timestamps(recipe.to_value())), model_outline(*model.module)};
  const Seen* earlier = seen_.find(model.name);
  if (earlier && *earlier == seen) return recipe;
  verify_model_recipe(*model.module, recipe, registry);
  seen_[model.name] = std::move(seen);
  return recipe;
}

Value write_strategy_dict(const TrainingStrategy& strategy, const Value* previous, VerifiedRecipes& verified,
                          std::vector<OmittedModel>& omitted) {
  check_strategy_parts(strategy.models, strategy.optimizers, strategy.schedulers, strategy.losses);
  require_named_function(strategy.training_fn);
  Value dict = Value::map({{"models", models_spec(strategy, verified, omitted)},
                           {"optimizers", optimizers_spec(strategy)},
                           {"schedulers", schedulers_spec(strategy)},
                           {"losses", losses_spec(strategy)},
                           {"training_fn", Value()}});
  if (strategy.training_fn.has_value()) dict.set("training_fn", strategy.training_fn.name());
  if (strategy.loss_target_assembler) dict.set("loss_target_assembler", true);
  if (strategy.length() != TrainingLength{})
    dict.set("length", Value::map({{"max_epochs", strategy.length().max_epochs},
                                   {"steps_per_epoch", strategy.length().steps_per_epoch}}));
  return unchanged_from(previous, dict);
}

}  // namespace nexuml
