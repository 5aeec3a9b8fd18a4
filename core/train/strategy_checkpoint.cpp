#include "train/strategy_checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/weights.h"
#include "train/strategy_loop.h"
#include "train/strategy_rules.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

std::string text_at(const Value& map, const char* key) {
  const Value* found = map.is_map() ? map.find(key) : nullptr;
  return found && found->is_string() ? found->as_string() : std::string();
}

// A checkpoint, the newest of a folder of them, or that of a run folder.
fs::path find_checkpoint(fs::path folder) {
  folder = fs::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (is_checkpoint_folder(folder)) return folder;
  for (const fs::path& place : {folder, folder / "checkpoints"}) {
    const CheckpointStore store(place);
    if (const auto latest = store.latest()) return store.path_of(*latest);
  }
  throw Error("E764", "there is no checkpoint in the folder", Where::in_file(folder.string()),
              "name a checkpoint, a folder of checkpoints or a run folder");
}

// Recipes would build two modules where one stands now.
void refuse_shared_models(const TrainingStrategy& strategy) {
  std::map<const at::TensorImpl*, std::string> owners;
  for (const StrategyModel& model : strategy.models)
    for (const auto& [name, tensor] : state_dict(*model.module)) {
      const auto [owner, is_new] = owners.emplace(tensor.unsafeGetTensorImpl(), model.name);
      if (is_new || owner->second == model.name) continue;
      throw Error("E748",
                  fmt::format("the models '{}' and '{}' share '{}': rebuilt from their recipes, each would "
                              "have its own",
                              owner->second, model.name, name),
                  {}, "make one model of both");
    }
}

void list_others(const char* what, const Value* recorded, std::vector<std::string> own,
                 std::vector<std::string>& differences) {
  std::vector<std::string> saved;
  if (recorded && recorded->is_map())
    for (const auto& entry : recorded->entries()) saved.push_back(entry.key);
  for (const std::string& name : saved)
    if (std::ranges::find(own, name) == own.end())
      differences.push_back(fmt::format("the {} '{}' of the checkpoint is not here", what, name));
  for (const std::string& name : own)
    if (std::ranges::find(saved, name) == saved.end())
      differences.push_back(fmt::format("the {} '{}' is not in the checkpoint", what, name));
}

void require_same_parts(const TrainingStrategy& strategy, const Value& recipe) {
  if (!recipe.is_map()) return;  // checkpoints without a recipe: their state has to fit
  std::vector<std::string> differences;
  list_others("model", recipe.find("models"), part_names(strategy.models), differences);
  list_others("optimizer", recipe.find("optimizers"), part_names(strategy.optimizers), differences);
  list_others("scheduler", recipe.find("schedulers"), part_names(strategy.schedulers), differences);
  if (!differences.empty())
    throw Error("E842",
                fmt::format("the checkpoint is one of another strategy: {}", fmt::join(differences, "; ")));
}

// Libraries that took part and are not here, each a line under what could not be read or built.
[[noreturn]] void refuse_with_missing_libraries(Diagnostics problems, const Value& about,
                                                const ComponentRegistry& registry) {
  std::set<std::string> loaded{"program"};  // a program that registered something has no name of its own
  const Value records = library_records(registry);
  for (const Value& library : records.items()) loaded.insert(text_at(library, "id"));
  const Value* took_part = about.find("libraries");
  if (took_part && took_part->is_list())
    for (const Value& library : took_part->items())
      if (const std::string id = text_at(library, "id"); !loaded.contains(id))
        problems
            .error("E748", fmt::format("the checkpoint was written with the library {} {}, which is not "
                                       "loaded here",
                                       id, text_at(library, "version")))
            .hint = "load it; without it `nexuml-run checkpoint show` and `verify` look into the checkpoint";
  throw Error(std::move(problems));
}

TrainingStrategy built_from_recipe(const Checkpoint& checkpoint, const ComponentRegistry& registry,
                                   const StrategyOverrides& overrides) {
  try {
    return TrainingStrategy::from_spec_dict(checkpoint.recipe, registry, overrides);
  } catch (const Error& error) {
    refuse_with_missing_libraries(error.diagnostics(), checkpoint.about, registry);
  }
}

// What the rules of `keep_checkpoints` knew waits until rules are set again.
const std::string rules_part = std::string("callback/") + checkpoints_callback;

std::optional<TrainingState> part_of_state(const StrategyState& state, const std::string& part) {
  const Value* scalars = state.scalars.find(part);
  if (!scalars || !scalars->is_map() || scalars->size() == 0) return std::nullopt;
  return TrainingState{.tensors = {}, .scalars = *scalars};
}

// -1 for a folder that was given another name.
std::int64_t index_of_folder(const fs::path& place) {
  for (const std::int64_t index : CheckpointStore(place.parent_path()).indices())
    if (place.filename() == std::to_string(index)) return index;
  return -1;
}

void tell_unclaimed(const TrainingStrategy& strategy, const StrategyState& state, Diagnostics* warnings) {
  for (const std::string& part : strategy.unclaimed(state)) {
    if (part == rules_part) continue;
    const std::string message =
        fmt::format("the checkpoint holds a state of {}, which nobody here takes", part);
    if (!warnings)
      throw Error("E842", message, {}, "pass the hook of that name, or pass `warnings` to go on without it");
    warnings->warning("W767", message);
  }
}

}  // namespace

Value library_records(const ComponentRegistry& registry) {
  std::map<std::string, Origin> origins;
  const auto note = [&](const auto& entries) {
    for (const auto* entry : entries) origins.emplace(entry->origin.library, entry->origin);
  };
  note(registry.definitions());
  note(registry.targets());
  note(registry.scenarios());
  note(registry.serializers());
  Value records = Value::list();
  for (const auto& [id, origin] : origins)
    records.push_back(Value::map({{"id", id}, {"version", origin.version}, {"build_id", origin.build_id}}));
  return records;
}

void note_other_libraries(const Value& about, const ComponentRegistry& registry, Diagnostics& advice) {
  const Value* before = about.find("libraries");
  if (!before || !before->is_list()) return;
  const Value libraries = library_records(registry);
  for (const Value& then : before->items())
    for (const Value& now : libraries.items()) {
      if (text_at(then, "id") != text_at(now, "id") || then == now) continue;
      const std::string id = text_at(then, "id"), was = text_at(then, "version"),
                        is = text_at(now, "version");
      advice.note("W768",
                  was == is ? fmt::format("the checkpoint was written with another build of {} {}", id, is)
                            : fmt::format("the checkpoint was written with {} {}, this is {}", id, was, is));
    }
}

Checkpoint checkpoint_of(const TrainingStrategy& strategy, Value recipe, Value about) {
  StrategyState state = strategy.state();
  about.set("epoch", strategy.counters.epoch);
  about.set("batch", strategy.counters.batch);
  about.set("global_step", strategy.counters.global_step);
  about.set("libraries", library_records(strategy.registry()));
  return {.model = std::move(state.model),
          .trainer = std::move(state.tensors),
          .trainer_state = std::move(state.scalars),
          .recipe = std::move(recipe),
          .about = std::move(about)};
}

Checkpoint TrainingStrategy::plan_checkpoint() const {
  refuse_shared_models(*this);
  recipe_ = checkpoint_spec_dict(recipe_.is_null() ? nullptr : &recipe_);
  return checkpoint_of(*this, recipe_);
}

std::int64_t TrainingStrategy::save_checkpoint(const fs::path& folder) const {
  return CheckpointStore(folder).save(plan_checkpoint());
}

// State into live objects, and what the next save and the rules of the checkpoints go on from.
void TrainingStrategy::take_checkpoint(Checkpoint checkpoint, const fs::path& place, Diagnostics* warnings) {
  if (warnings) note_other_libraries(checkpoint.about, registry_, *warnings);
  const StrategyState state{checkpoint.model, checkpoint.trainer, checkpoint.trainer_state};
  tell_unclaimed(*this, state, warnings);
  restore(state);
  recipe_ = std::move(checkpoint.recipe);
  loop_->loaded_from = place.parent_path();
  loop_->loaded_index = index_of_folder(place);
  loop_->loaded_rules.reset();
  if (loop_->hook)
    loop_->go_on_from_loaded();
  else
    loop_->loaded_rules = part_of_state(state, rules_part);
}

TrainingStrategy TrainingStrategy::load_checkpoint(const fs::path& folder, const ComponentRegistry& registry,
                                                   const StrategyOverrides& overrides) {
  const fs::path place = find_checkpoint(folder);
  Checkpoint checkpoint = nexuml::load_checkpoint(place);
  if (checkpoint.recipe.is_null())
    throw Error("E748", "the checkpoint says nothing of how its models are built",
                Where::in_file(place.string()),
                "build the strategy and load the checkpoint into it: strategy.load_checkpoint(folder)");
  TrainingStrategy strategy = built_from_recipe(checkpoint, registry, overrides);
  strategy.take_checkpoint(std::move(checkpoint), place, overrides.warnings);
  return strategy;
}

void TrainingStrategy::load_checkpoint(const fs::path& folder, Diagnostics* warnings) {
  const fs::path place = find_checkpoint(folder);
  Checkpoint checkpoint = nexuml::load_checkpoint(place);
  require_same_parts(*this, checkpoint.recipe);
  take_checkpoint(std::move(checkpoint), place, warnings);
}

}  // namespace nexuml
