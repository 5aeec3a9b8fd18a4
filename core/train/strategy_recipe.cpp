#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/strategy_recipe.h>

#include <algorithm>
#include <array>
#include <set>

#include "train/factories.h"

namespace nexuml {

DescribedSchedule::~DescribedSchedule() = default;

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

template <class Part>
void require_names(const std::vector<Part>& parts, const char* what) {
  std::set<std::string> names;
  for (const Part& part : parts) {
    if (part.name.empty()) throw Error("E748", fmt::format("a {} has no name", what));
    if (!names.insert(part.name).second)
      throw Error("E748", fmt::format("two {}s are named '{}'", what, part.name));
  }
}

template <class Part>
void require_part(const std::vector<Part>& parts, const std::string& name, const std::string& owner,
                  const char* what) {
  if (std::ranges::find(parts, name, &Part::name) != parts.end()) return;
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  throw Error("E748", fmt::format("{} belongs to the {} '{}', which is not there", owner, what, name), {},
              did_you_mean(name, names));
}

void require_kind(const Recipe& recipe, TargetKind kind, const std::string& owner) {
  if (recipe.kind() != kind)
    throw Error("E748", fmt::format("{}: {} is a {}, a {} is needed", owner, recipe.cls_path(),
                                    to_string(recipe.kind()), to_string(kind)));
}

void check_parts(const StrategyParts& parts) {
  require_names(parts.models, "model");
  require_names(parts.optimizers, "optimizer");
  require_names(parts.schedulers, "scheduler");
  for (const auto& optimizer : parts.optimizers) {
    require_part(parts.models, optimizer.model, fmt::format("the optimizer '{}'", optimizer.name), "model");
    require_kind(optimizer.recipe, TargetKind::optimizer, fmt::format("optimizers.{}", optimizer.name));
  }
  for (const auto& scheduler : parts.schedulers) {
    require_part(parts.optimizers, scheduler.optimizer, fmt::format("the scheduler '{}'", scheduler.name),
                 "optimizer");
    require_kind(scheduler.recipe, TargetKind::scheduler, fmt::format("schedulers.{}", scheduler.name));
  }
  for (std::size_t i = 0; i < parts.losses.size(); ++i)
    require_kind(parts.losses[i].recipe, TargetKind::loss, fmt::format("losses[{}]", i));
  if (parts.training_fn.has_value() && parts.training_fn.name().empty())
    throw Error(
        "E748",
        "training_fn: a function object (a lambda, a local or a bound function) has no name that a recipe "
        "could hold",
        {},
        "register it as a target of kind function and name it: "
        "TrainingFunctionRef::named(\"acme.train:step\")");
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

Recipe recipe_of(const StrategyModel& model, const ComponentRegistry& registry) {
  if (!model.module) throw Error("E747", "there is no module");
  if (!model.recipe) return model_recipe(*model.module, registry);
  require_kind(*model.recipe, TargetKind::module, "its recipe");
  if (model.verify) verify_model_recipe(*model.module, *model.recipe, registry);
  return *model.recipe;
}

struct OmittedModel {
  std::string name, cause;
};

Value write_parts(const StrategyParts& parts, const ComponentRegistry& registry, const Value* previous,
                  std::vector<OmittedModel>& omitted) {
  check_parts(parts);
  Value dict = Value::map({{"models", Value::map()},
                           {"optimizers", Value::map()},
                           {"schedulers", Value::map()},
                           {"losses", Value::list()},
                           {"training_fn", Value()}});
  for (const StrategyModel& model : parts.models) {
    try {
      dict.find("models")->set(model.name, recipe_of(model, registry).to_value());
    } catch (const Error& failure) {
      std::vector<std::string> causes;
      for (const Diagnostic& problem : failure.diagnostics()) causes.push_back(problem.message);
      omitted.push_back({model.name, fmt::format("{}", fmt::join(causes, "; "))});
    }
  }
  for (const auto& optimizer : parts.optimizers)
    dict.find("optimizers")
        ->set(optimizer.name,
              Value::map({{"model", optimizer.model}, {"spec", optimizer.recipe.to_value()}}));
  for (const auto& scheduler : parts.schedulers)
    dict.find("schedulers")
        ->set(scheduler.name,
              Value::map({{"optimizer", scheduler.optimizer}, {"spec", scheduler.recipe.to_value()}}));
  for (std::size_t i = 0; i < parts.losses.size(); ++i)
    dict.find("losses")->push_back(Value::map({{"spec", parts.losses[i].recipe.to_value()},
                                               {"weight", weight_spec(parts.losses[i], i, registry)}}));
  if (parts.training_fn.has_value()) dict.set("training_fn", parts.training_fn.name());
  return unchanged_from(previous, dict);
}

// ---- reading

class DictReader {
 public:
  DictReader(const Value& dict, const ComponentRegistry& registry) : dict_(dict), registry_(registry) {
    if (!dict.is_map()) {
      malformed("the dict of a strategy is a map", dict, {});
      return;
    }
    for (const Value::Entry& entry : dict.entries())
      if (std::ranges::find(kKeys, entry.key) == kKeys.end())
        malformed(fmt::format("there is no '{}' in the dict of a strategy", entry.key), entry.value,
                  entry.key);
  }

  StrategyParts read() {
    StrategyParts parts;
    each("models", [&](const std::string& name, const Value& value, const std::string& path) {
      if (auto recipe = recipe_at(value, TargetKind::module, path))
        parts.models.push_back({name, nullptr, std::move(recipe)});
    });
    owned("optimizers", "model", TargetKind::optimizer,
          [&](std::string name, std::string owner, Recipe recipe) {
            parts.optimizers.push_back({std::move(name), std::move(owner), std::move(recipe)});
          });
    owned("schedulers", "optimizer", TargetKind::scheduler,
          [&](std::string name, std::string owner, Recipe recipe) {
            parts.schedulers.push_back({std::move(name), std::move(owner), std::move(recipe)});
          });
    read_losses(parts);
    if (const Value* function = dict_.find("training_fn"); function && function->is_string())
      parts.training_fn = TrainingFunctionRef::named(function->as_string());
    else if (function && !function->is_null())
      malformed("training_fn is the name of a function or null", *function, "training_fn");
    if (problems_.has_errors()) throw Error(std::move(problems_));
    check_parts(parts);
    return parts;
  }
  // By the index of the loss; null for a constant weight.
  const std::vector<std::optional<Recipe>>& weight_recipes() const noexcept { return weights_; }

 private:
  static constexpr std::array<std::string_view, 5> kKeys{"models", "optimizers", "schedulers", "losses",
                                                         "training_fn"};

  void malformed(const std::string& message, const Value& at, const std::string& path) {
    problems_.error("E748", message, Where(at.position(), path));
  }
  template <class Read>
  void each(const char* key, const Read& read) {
    const Value* parts = dict_.find(key);
    if (!parts || !parts->is_map())
      return malformed(fmt::format("the dict of a strategy holds a map '{}'", key), dict_, key);
    for (const Value::Entry& entry : parts->entries())
      read(entry.key, entry.value, fmt::format("{}.{}", key, entry.key));
  }
  template <class Add>
  void owned(const char* key, const char* owner_key, TargetKind kind, const Add& add) {
    each(key, [&](const std::string& name, const Value& value, const std::string& path) {
      const Value* owner = value.find(owner_key);
      const Value* spec = value.find("spec");
      if (!owner || !owner->is_string() || !spec || value.size() != 2)
        return malformed(fmt::format("{} and spec are needed here", owner_key), value, path);
      if (auto recipe = recipe_at(*spec, kind, path + ".spec"))
        add(name, owner->as_string(), *std::move(recipe));
    });
  }
  void read_losses(StrategyParts& parts) {
    const Value* losses = dict_.find("losses");
    if (!losses || !losses->is_list())
      return malformed("the dict of a strategy holds a list 'losses'", dict_, "losses");
    for (std::size_t i = 0; i < losses->size(); ++i) {
      const Value& value = losses->items()[i];
      const std::string path = fmt::format("losses[{}]", i);
      const Value* spec = value.find("spec");
      const Value* weight = value.find("weight");
      if (!spec || !weight || value.size() != 2) {
        malformed("spec and weight are needed here", value, path);
        continue;
      }
      std::optional<Recipe> schedule;
      if (!weight->is_number()) schedule = recipe_at(*weight, TargetKind::weight_schedule, path + ".weight");
      auto recipe = recipe_at(*spec, TargetKind::loss, path + ".spec");
      if (!recipe) continue;
      parts.losses.push_back({*std::move(recipe), weight->is_number() ? weight->as_number() : 1.0});
      weights_.push_back(std::move(schedule));
    }
  }
  std::optional<Recipe> recipe_at(const Value& value, TargetKind kind, const std::string& path) {
    return read_recipe(registry_, value, {.kind = kind, .key_path = path}, problems_);
  }

  const Value& dict_;
  const ComponentRegistry& registry_;
  Diagnostics problems_;
  std::vector<std::optional<Recipe>> weights_;
};

std::shared_ptr<const TrainingFunction> training_function(const StrategyParts& parts, const Value& dict,
                                                          const ComponentRegistry& registry,
                                                          const StrategyOverrides& overrides) {
  if (overrides.training_fn.has_value()) return overrides.training_fn.resolve(registry);
  if (parts.training_fn.has_value()) return parts.training_fn.resolve(registry);
  if (!dict.find("training_fn"))
    throw Error("E748", "training_fn is neither recorded nor passed", {},
                "pass it: from_spec_dict(dict, registry, {.training_fn = ...})");
  return nullptr;
}

}  // namespace

Value without_timestamps(const Value& value) {
  Value result = value;
  if (value.is_list())
    for (std::size_t i = 0; i < value.size(); ++i) result.items()[i] = without_timestamps(value.items()[i]);
  if (!value.is_map()) return result;
  if (looks_like_recipe(value)) result.erase("timestamp");
  for (Value::Entry& entry : result.entries()) entry.value = without_timestamps(Value(entry.value));
  return result;
}

Value to_spec_dict(const StrategyParts& parts, const ComponentRegistry& registry, Diagnostics& warnings,
                   const Value* previous) {
  std::vector<OmittedModel> omitted;
  Value dict = write_parts(parts, registry, previous, omitted);
  for (const OmittedModel& model : omitted)
    warnings.warning("W747", fmt::format("Omitting model spec for '{}': {}", model.name, model.cause));
  return dict;
}

Value checkpoint_spec_dict(const StrategyParts& parts, const ComponentRegistry& registry,
                           const Value* previous) {
  std::vector<OmittedModel> omitted;
  Value dict = write_parts(parts, registry, previous, omitted);
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

BuiltStrategy from_spec_dict(const Value& dict, const ComponentRegistry& registry,
                             const StrategyOverrides& overrides) {
  DictReader reader(dict, registry);
  BuiltStrategy built;
  built.parts = reader.read();
  for (const auto& [name, module] : overrides.models)
    require_part(built.parts.models, name, "a model that was passed", "model");
  built.training_fn = training_function(built.parts, dict, registry, overrides);

  StrategyModels models;
  for (StrategyModel& model : built.parts.models) {
    const auto* live = overrides.models.find(model.name);
    model.module = live ? *live : build_model(*model.recipe, registry, {{"device", overrides.device}});
    models.append(model.name, model.module);
  }
  for (const auto& optimizer : built.parts.optimizers)
    built.optimizers.append(optimizer.name, build<TargetKind::optimizer>(
                                                optimizer.recipe, registry,
                                                {{"params", parameters_of(*models.at(optimizer.model))}}));
  for (const auto& scheduler : built.parts.schedulers)
    built.schedulers.append(
        scheduler.name,
        build<TargetKind::scheduler>(scheduler.recipe, registry,
                                     {{"optimizer", built.optimizers.at(scheduler.optimizer).get()},
                                      {"max_epochs", overrides.max_epochs},
                                      {"steps_per_epoch", overrides.steps_per_epoch}}));
  for (std::size_t i = 0; i < built.parts.losses.size(); ++i) {
    BuiltStrategy::Loss loss;
    loss.function = build<TargetKind::loss>(built.parts.losses[i].recipe, registry);
    if (const auto& schedule = reader.weight_recipes()[i]) {
      loss.schedule = build<TargetKind::weight_schedule>(
          *schedule, registry,
          {{"max_epochs", overrides.max_epochs}, {"steps_per_epoch", overrides.steps_per_epoch}});
      built.parts.losses[i].weight = loss.schedule;
    } else {
      loss.weight = std::get<double>(built.parts.losses[i].weight);
    }
    built.losses.push_back(std::move(loss));
  }
  return built;
}

}  // namespace nexuml
