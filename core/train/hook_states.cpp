#include <fmt/format.h>
#include <nexuml/strategy_recipe.h>

#include "data/guard.h"

namespace nexuml {

CheckpointableHook::~CheckpointableHook() = default;

namespace {

// Checkpointable hooks by name. Hooks without state may share a name: nothing is found by it.
OrderedMap<CheckpointableHook*> checkpointable(const std::vector<std::shared_ptr<TrainingHook>>& hooks) {
  OrderedMap<CheckpointableHook*> found;
  for (const auto& hook : hooks) {
    auto* stateful = dynamic_cast<CheckpointableHook*>(hook.get());
    if (!stateful) continue;
    const std::string name = stateful->name();
    if (name.empty() || found.contains(name))
      throw Error(
          "E748",
          fmt::format("two hooks with state are named '{}': their states could not be told apart", name), {},
          "give each a name of its own");
    found.append(name, stateful);
  }
  return found;
}

}  // namespace

OrderedMap<TrainingState> hook_states(const std::vector<std::shared_ptr<TrainingHook>>& hooks) {
  OrderedMap<TrainingState> states;
  for (const auto& [name, hook] : checkpointable(hooks)) states.append(name, hook->state());
  return states;
}

std::vector<std::string> restore_hooks(const std::vector<std::shared_ptr<TrainingHook>>& hooks,
                                       const OrderedMap<TrainingState>& states) {
  const auto known = checkpointable(hooks);
  std::vector<std::string> unclaimed;
  for (const auto& [name, state] : states)
    if (!known.contains(name)) unclaimed.push_back(name);
  for (const auto& [name, hook] : known)
    if (const TrainingState* state = states.find(name))
      guarded("E842", fmt::format("the state of the hook '{}'", name), {},
              [&, target = hook] { target->load_state(*state); });
  return unclaimed;
}

}  // namespace nexuml
