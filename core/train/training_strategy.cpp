#include "train/training_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  Value frozen = Value::list();
  for (const auto& item : pipeline->named_parameters())
    if (!item.value().requires_grad()) frozen.push_back(item.key());
  whole.scalars.set("frozen", std::move(frozen));
  put(whole, "means", epoch_means.state());
  put(whole, "random", random_state(device));
  whole.scalars.set("counters", Value::map({{"epoch", counters.epoch},
                                            {"batch", counters.batch},
                                            {"global_step", counters.global_step}}));
  return whole;
}

namespace {

// Checkpoints of earlier versions say nothing of it: then parameters stay as they are.
void freeze(torch::nn::Module& module, const Value* names) {
  if (!names || !names->is_list()) return;
  std::set<std::string> frozen;
  for (const Value& name : names->items())
    if (name.is_string()) frozen.insert(name.as_string());
  for (auto& item : module.named_parameters())
    if (item.value().is_floating_point() || item.value().is_complex())
      item.value().set_requires_grad(!frozen.contains(item.key()));
}

// The state as it is now, with tensors of its own.
StrategyState copy_of_state(const TrainingStrategy& strategy) {
  const auto copied = [](const TensorMap& tensors) {
    TensorMap copies;
    for (const auto& [name, tensor] : tensors) copies.add(name, tensor.detach().clone());
    return copies;
  };
  const StrategyState state = strategy.state();
  return {copied(state.model), copied(state.tensors), state.scalars};
}

}  // namespace

void TrainingStrategy::restore(const StrategyState& saved) {
  const StrategyState before = copy_of_state(*this);
  try {
    apply(saved);
  } catch (...) {
    apply(before);
    throw;
  }
}

void TrainingStrategy::apply(const StrategyState& saved) {
  const TrainingState counts = take(saved, "counters");
  TrainingCounters loaded{counter(counts.scalars, "epoch"), counter(counts.scalars, "batch"),
                          counter(counts.scalars, "global_step")};
  load_state_dict(*pipeline, saved.model);
  freeze(*pipeline, saved.scalars.find("frozen"));
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

std::vector<std::string> TrainingStrategy::unclaimed(const StrategyState& saved) const {
  std::vector<std::string> parts;
  for (const auto& entry : saved.scalars.entries()) {
    const auto takes = [&](const NamedCallback& own) { return "callback/" + own.name == entry.key; };
    const auto belongs = [&](const auto& tensor) { return tensor.first.starts_with(entry.key + "/"); };
    const bool says_something = (entry.value.is_map() && entry.value.size() > 0) ||
                                std::any_of(saved.tensors.begin(), saved.tensors.end(), belongs);
    if (entry.key.starts_with("callback/") && says_something &&
        std::none_of(callbacks.begin(), callbacks.end(), takes))
      parts.push_back(entry.key);
  }
  return parts;
}

}  // namespace nexuml
