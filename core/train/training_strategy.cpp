#include "train/training_strategy.h"

#include <fmt/format.h>

#include "checkpoint/weights.h"
#include "train/random_streams.h"

namespace nexuml {

namespace {

void put(StrategyState& whole, const std::string& part, const TrainingState& state) {
  for (const auto& [name, tensor] : state.tensors) whole.tensors.add(part + "/" + name, tensor);
  whole.scalars.set(part, state.scalars);
}

TrainingState take(const StrategyState& whole, const std::string& part) {
  TrainingState state;
  const std::string prefix = part + "/";
  for (const auto& [name, tensor] : whole.tensors)
    if (name.starts_with(prefix)) state.tensors.append(name.substr(prefix.size()), tensor);
  const Value* scalars = whole.scalars.find(part);
  if (!scalars || !scalars->is_map())
    throw Error("E842", fmt::format("saved training state: the part '{}' is missing", part));
  state.scalars = *scalars;
  return state;
}

std::int64_t counter(const Value& scalars, const char* name) {
  const Value* found = scalars.find(name);
  if (!found || !found->is_integer() || found->as_integer() < 0)
    throw Error("E842", fmt::format("saved training state: the counter '{}' should be a whole number", name));
  return found->as_integer();
}

}  // namespace

StrategyState TrainingStrategy::state() const {
  StrategyState whole;
  whole.model = state_dict(*pipeline);
  if (optimizer) put(whole, "optimizer", optimizer->state());
  if (scheduler) put(whole, "scheduler", scheduler->state());
  for (const auto& [name, callback] : callbacks) put(whole, "callback/" + name, callback->state());
  put(whole, "means", epoch_means.state());
  put(whole, "random", random_state(device));
  whole.scalars.set("counters", Value::map({{"epoch", counters.epoch},
                                            {"batch", counters.batch},
                                            {"global_step", counters.global_step}}));
  return whole;
}

void TrainingStrategy::restore(const StrategyState& saved) {
  const TrainingState counts = take(saved, "counters");
  TrainingCounters loaded{counter(counts.scalars, "epoch"), counter(counts.scalars, "batch"),
                          counter(counts.scalars, "global_step")};
  load_state_dict(*pipeline, saved.model);
  // Moments follow the parameters' device; lr comes with the optimizer, so the scheduler is restored after
  // it.
  if (optimizer) optimizer->load_state(take(saved, "optimizer"));
  if (scheduler) scheduler->load_state(take(saved, "scheduler"));
  for (const auto& [name, callback] : callbacks)
    if (saved.scalars.find("callback/" + name)) callback->load_state(take(saved, "callback/" + name));
  epoch_means.load_state(take(saved, "means"));
  set_random_state(take(saved, "random"), device);
  counters = loaded;
  pipeline->set_epoch(counters.epoch);
}

}  // namespace nexuml
