#include "engine/resumed_state.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace nexuml {

namespace {

using Numbers = std::vector<double>;

// Empty where the state holds none; the reader of the state says then what it misses.
Numbers numbers_of(const Value& scalars, const char* key) {
  Numbers numbers;
  const Value* found = scalars.find(key);
  if (found && found->is_list())
    for (const Value& item : found->items())
      if (item.is_number()) numbers.push_back(item.as_number());
  return numbers;
}

Value list_of(const Numbers& numbers) {
  Value list = Value::list();
  for (const double number : numbers) list.push_back(number);
  return list;
}

// Base rates stand in the state of a scheduler and in those of the schedulers that it is composed of.
void set_base_rates(Value& scalars, const Numbers& rates) {
  if (scalars.is_list())
    for (Value& item : scalars.items()) set_base_rates(item, rates);
  if (!scalars.is_map()) return;
  for (auto& entry : scalars.entries())
    if (entry.key == "base_lrs")
      entry.value = list_of(rates);
    else
      set_base_rates(entry.value, rates);
}

void take_learning_rates(StrategyState& saved, const TrainingStrategy& fresh, Diagnostics& advice) {
  Value* optimizer = saved.scalars.find("optimizer");
  if (!optimizer || !optimizer->is_map()) return;
  Numbers lr = numbers_of(*optimizer, "lr"), initial = numbers_of(*optimizer, "initial_lr");
  Numbers wanted;
  for (const Optimizer::Group& group : fresh.optimizer().groups()) wanted.push_back(group.initial_lr);
  if (initial == wanted || initial.size() != wanted.size() || lr.size() != wanted.size()) return;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double reached = lr[i];
    lr[i] = initial[i] == 0 ? wanted[i] : reached * (wanted[i] / initial[i]);
    advice.note("W767", fmt::format("the learning rate begins at {:g} instead of {:g}: the run goes on with "
                                    "{:g} instead of {:g}",
                                    wanted[i], initial[i], lr[i], reached));
  }
  optimizer->set("lr", list_of(lr));
  optimizer->set("initial_lr", list_of(wanted));
  if (Value* scheduler = saved.scalars.find("scheduler")) set_base_rates(*scheduler, wanted);
}

bool is_another(const Value& about, const char* key, const std::string& now) {
  const Value* before = about.find(key);
  return before && before->is_string() && before->as_string() != now;
}

std::string before(const Value& about, const char* key) {
  return about.at(key).as_string();
}

void drop_part(StrategyState& saved, const std::string& part) {
  TensorMap others;
  for (const auto& [name, tensor] : saved.tensors)
    if (!name.starts_with(part + "/")) others.add(name, tensor);
  saved.tensors = std::move(others);
}

void put_part(StrategyState& saved, const std::string& part, const TrainingState& state) {
  drop_part(saved, part);
  for (const auto& [name, tensor] : state.tensors) saved.tensors.add(part + "/" + name, tensor);
  saved.scalars.set(part, state.scalars);
}

void begin_optimizer_anew(StrategyState& saved, const TrainingStrategy& fresh) {
  TrainingState state = fresh.optimizer().state();
  const Value* reached = saved.scalars.find("optimizer");
  if (reached && reached->is_map())
    for (const char* key : {"lr", "initial_lr"})
      if (const Value* rates = reached->find(key)) state.scalars.set(key, *rates);
  put_part(saved, "optimizer", state);
}

std::int64_t scheduler_steps(const StrategyState& saved) {
  const Value* scheduler = saved.scalars.find("scheduler");
  const Value* steps = scheduler && scheduler->is_map() ? scheduler->find("last_epoch") : nullptr;
  return steps && steps->is_integer() ? steps->as_integer() : 0;
}

std::int64_t integer_of(const Value& map, const char* key) {
  const Value* found = map.is_map() ? map.find(key) : nullptr;
  return found && found->is_integer() ? found->as_integer() : 0;
}

void check_position(const Value& about, const TrainingKind& now) {
  const std::int64_t batch = integer_of(about, "batch");
  const std::int64_t size = integer_of(about, "batch_size"), batches = integer_of(about, "batches");
  if (batch == 0 || batches == 0) return;
  if (size == now.batch_size && batches == now.batches) return;
  throw Error(
      "E842",
      fmt::format("the checkpoint lies after batch {} of an epoch of {} batches of {}; the epoch has now "
                  "{} batches of {}, so that samples would be left out or seen twice",
                  batch, batches, size, now.batches, now.batch_size),
      {}, "resume from a checkpoint between two epochs, or keep the batch size and the data");
}

}  // namespace

void TrainingKind::note_in(Value& about) const {
  about.set("batch_size", batch_size);
  about.set("batches", batches);
  about.set("optimizer", optimizer);
  about.set("scheduler", scheduler);
}

ResumedState resumed_state(const Checkpoint& checkpoint, const TrainingStrategy& fresh,
                           const TrainingKind& now, Diagnostics& advice) {
  const Value& about = checkpoint.about;
  check_position(about, now);
  ResumedState resumed{{checkpoint.model, checkpoint.trainer, checkpoint.trainer_state}, 0};
  take_learning_rates(resumed.state, fresh, advice);
  if (is_another(about, "optimizer", now.optimizer)) {
    begin_optimizer_anew(resumed.state, fresh);
    advice.note("W767", fmt::format("the optimizer is now {}: it begins without what {} had gathered",
                                    now.optimizer, before(about, "optimizer")));
  }
  if (is_another(about, "scheduler", now.scheduler)) {
    resumed.scheduler_steps = scheduler_steps(resumed.state);
    put_part(resumed.state, "scheduler", fresh.scheduler().state());
    if (Value* optimizer = resumed.state.scalars.find("optimizer"); optimizer && optimizer->is_map()) {
      Numbers first;  // some schedulers go from one rate to the next
      for (const Optimizer::Group& group : fresh.optimizer().groups()) first.push_back(group.lr);
      optimizer->set("lr", list_of(first));
    }
    advice.note("W767", fmt::format("the scheduler is now {} and no longer {}: it goes on at step {}",
                                    now.scheduler, before(about, "scheduler"), resumed.scheduler_steps));
  }
  for (const std::string& part : fresh.unclaimed(resumed.state))
    advice.note("W767",
                fmt::format("the checkpoint holds a state of {}, which this run does not have", part));
  return resumed;
}

}  // namespace nexuml
