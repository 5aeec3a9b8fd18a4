// What a strategy remembers, as tensors and values, and the way back.
#include <fmt/format.h>
#include <nexuml/pipeline.h>
#include <nexuml/training_strategy.h>

#include <algorithm>
#include <set>

#include "checkpoint/weights.h"
#include "data/guard.h"
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

// The only one of its kind needs no name: "optimizer"; one of several has it: "optimizer.encoder_optimizer".
template <class Part>
std::string part_name(const char* kind, const std::vector<Part>& parts, const Part& part) {
  return parts.size() == 1 ? std::string(kind) : fmt::format("{}.{}", kind, part.name);
}

// Hooks that do not say that they belong into checkpoints have no state.
bool has_state(const NamedCallback& entry) {
  return !dynamic_cast<const TrainingHook*>(entry.callback.get()) ||
         dynamic_cast<const CheckpointableHook*>(entry.callback.get());
}

// With several models, names begin with the model's.
std::string weight_prefix(const TrainingStrategy& strategy, const StrategyModel& model) {
  return strategy.models.size() == 1 ? std::string() : model.name + ".";
}

TensorMap weights_of(const TrainingStrategy& strategy) {
  TensorMap weights;
  for (const StrategyModel& model : strategy.models)
    for (const auto& [name, tensor] : state_dict(*model.module))
      weights.add(weight_prefix(strategy, model) + name, tensor);
  return weights;
}

template <class Call>
void each_parameter(const TrainingStrategy& strategy, Call&& call) {
  for (const StrategyModel& model : strategy.models)
    for (auto& item : model.module->named_parameters())
      call(weight_prefix(strategy, model) + item.key(), item.value());
}

// Checkpoints of earlier versions say nothing of it: then parameters stay as they are.
void freeze(const TrainingStrategy& strategy, const Value* names) {
  if (!names || !names->is_list()) return;
  std::set<std::string> frozen;
  for (const Value& name : names->items())
    if (name.is_string()) frozen.insert(name.as_string());
  each_parameter(strategy, [&](const std::string& name, at::Tensor& parameter) {
    if (parameter.is_floating_point() || parameter.is_complex())
      parameter.set_requires_grad(!frozen.contains(name));
  });
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

StrategyState TrainingStrategy::state() const {
  StrategyState whole;
  whole.model = weights_of(*this);
  for (const auto& entry : optimizers)
    put(whole, part_name("optimizer", optimizers, entry), optimizer(entry.name).state());
  for (const auto& entry : schedulers)
    put(whole, part_name("scheduler", schedulers, entry), scheduler(entry.name).state());
  for (const NamedCallback& entry : callbacks)
    if (has_state(entry)) put(whole, "callback/" + entry.name, entry.callback->state());
  Value frozen = Value::list();
  each_parameter(*this, [&](const std::string& name, const at::Tensor& parameter) {
    if (!parameter.requires_grad()) frozen.push_back(name);
  });
  whole.scalars.set("frozen", std::move(frozen));
  put(whole, "means", epoch_means.state());
  put(whole, "random", random_state(device));
  whole.scalars.set("counters", Value::map({{"epoch", counters.epoch},
                                            {"batch", counters.batch},
                                            {"global_step", counters.global_step}}));
  return whole;
}

void TrainingStrategy::restore(const StrategyState& saved) {
  const StrategyState before = copy_of_state(*this);
  try {
    apply(saved, Failure::thrown);
  } catch (...) {
    apply(before, Failure::passed);
    throw;
  }
}

namespace {

void load_hook(const NamedCallback& entry, const StrategyState& saved) {
  const std::string part = "callback/" + entry.name;
  if (!has_state(entry) || !saved.scalars.find(part)) return;
  guarded("E842", fmt::format("the state of '{}'", entry.name), {},
          [&] { entry.callback->load_state(take(saved, part)); });
}

}  // namespace

void TrainingStrategy::apply(const StrategyState& saved, Failure of_hooks) {
  const TrainingState counts = take(saved, "counters");
  const TrainingCounters loaded{counter(counts.scalars, "epoch"), counter(counts.scalars, "batch"),
                                counter(counts.scalars, "global_step")};
  load_named_tensors(weights_of(*this), saved.model);
  freeze(*this, saved.scalars.find("frozen"));
  // Moments follow the parameters' device; lr comes with the optimizer, so the scheduler is restored after
  // it.
  for (const auto& entry : optimizers)
    optimizer(entry.name).load_state(take(saved, part_name("optimizer", optimizers, entry)));
  for (const auto& entry : schedulers)
    scheduler(entry.name).load_state(take(saved, part_name("scheduler", schedulers, entry)));
  for (const NamedCallback& entry : callbacks) {
    try {
      load_hook(entry, saved);
    } catch (const Error&) {
      if (of_hooks == Failure::thrown) throw;
    }
  }
  epoch_means.load_state(take(saved, "means"));
  set_random_state(take(saved, "random"), device);
  counters = loaded;
  for (const StrategyModel& entry : models)
    if (auto* pipeline = dynamic_cast<CompiledPipeline*>(entry.module.get()))
      pipeline->set_epoch(counters.epoch);
}

std::vector<std::string> TrainingStrategy::unclaimed(const StrategyState& saved) const {
  std::vector<std::string> parts;
  for (const auto& entry : saved.scalars.entries()) {
    const auto takes = [&](const NamedCallback& own) {
      return has_state(own) && "callback/" + own.name == entry.key;
    };
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
