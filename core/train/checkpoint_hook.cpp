#include "train/checkpoint_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nexuml {

namespace {

constexpr const char* save_failed = "E762";

}  // namespace

void CheckpointHook::train_batch_end(TrainingView& view) {
  if (options_.every_steps <= 0 || view.global_step() % options_.every_steps != 0) return;
  save(view, view.global_step(), std::nullopt);  // what an epoch gives is not known inside it
}

void CheckpointHook::epoch_end(TrainingView& view) {
  if (options_.every_epochs <= 0 || view.epoch() % options_.every_epochs != 0) return;
  save(view, view.epoch(), score_of(view));
}

std::optional<double> CheckpointHook::score_of(const TrainingView& view) const {
  if (options_.keep_best <= 0) return std::nullopt;
  const OrderedMap<double> metrics = view.metrics();
  const double* value = metrics.find(options_.metric);
  if (value) return std::isfinite(*value) ? std::optional(*value) : std::nullopt;
  std::vector<std::string> names;
  for (const auto& [name, number] : metrics) names.push_back(name);
  throw Error(
      "E812",
      fmt::format("the best checkpoints are those of the metric '{}', which no epoch gives; there are {}",
                  options_.metric, fmt::join(names, ", ")),
      {}, did_you_mean(options_.metric, names));
}

void CheckpointHook::save(TrainingView& view, std::int64_t number, std::optional<double> score) {
  if (view.global_step() == last_step_) return;
  last_step_ = view.global_step();
  pending_ = Saved{-1, number, score};
  try {
    pending_->index = view.save_checkpoint();
  } catch (const Error& error) {
    pending_.reset();
    if (!options_.on_failure || error.diagnostics().entries().front().code != save_failed) throw;
    options_.on_failure(error);
    return;
  }
  saved_.push_back(*pending_);
  pending_.reset();
  prune(view);
}

bool CheckpointHook::is_best(const Saved& entry) const {
  if (!entry.score) return false;
  const auto better = [&](const Saved& other) {
    if (!other.score || other.index == entry.index) return false;
    if (*other.score == *entry.score) return other.index < entry.index;  // of equals the earlier
    return options_.smaller_is_better == (*other.score < *entry.score);
  };
  return std::count_if(saved_.begin(), saved_.end(), better) < options_.keep_best;
}

bool CheckpointHook::is_kept(std::size_t position) const {
  const auto newer = static_cast<std::int64_t>(saved_.size() - position);  // 1: the newest
  if (newer <= std::max<std::int64_t>(options_.keep_last, 1)) return true;
  if (options_.keep_every > 0 && saved_[position].number % options_.keep_every == 0) return true;
  return is_best(saved_[position]);
}

void CheckpointHook::prune(TrainingView& view) {
  if (options_.keep_last <= 0 && options_.keep_every <= 0 && options_.keep_best <= 0) return;
  std::vector<Saved> kept;
  std::vector<std::int64_t> dropped;
  for (std::size_t i = 0; i < saved_.size(); ++i)
    if (is_kept(i))
      kept.push_back(saved_[i]);
    else
      dropped.push_back(saved_[i].index);
  saved_ = std::move(kept);
  for (const std::int64_t index : dropped) view.remove_checkpoint(index);
}

TrainingState CheckpointHook::state() const {
  Value saved = Value::list();
  const auto note = [&](const Saved& entry) {
    Value item = Value::map({{"index", entry.index}, {"number", entry.number}});
    if (entry.score) item.set("score", *entry.score);
    saved.push_back(std::move(item));
  };
  for (const Saved& entry : saved_) note(entry);
  if (pending_) note(*pending_);
  TrainingState state;
  state.scalars.set("saved", std::move(saved));
  state.scalars.set("last_step", last_step_);
  return state;
}

void CheckpointHook::load_state(const TrainingState& state) {
  const Value* saved = state.scalars.find("saved");
  const Value* last_step = state.scalars.find("last_step");
  const auto whole = [](const Value* value) { return value && value->is_integer(); };
  if (!saved || !saved->is_list() || !whole(last_step))
    throw Error("E842", "saved state of the checkpoints: 'saved' and 'last_step' expected");
  std::vector<Saved> loaded;
  for (const Value& item : saved->items()) {
    const Value* score = item.is_map() ? item.find("score") : nullptr;
    if (!item.is_map() || !whole(item.find("index")) || !whole(item.find("number")) ||
        (score && !score->is_number()))
      throw Error("E842", "saved state of the checkpoints: an entry needs 'index' and 'number'");
    loaded.push_back({item.at("index").as_integer(), item.at("number").as_integer(),
                      score ? std::optional(score->as_number()) : std::nullopt});
  }
  saved_ = std::move(loaded);
  last_step_ = last_step->as_integer();
}

void CheckpointHook::continue_from(std::optional<std::int64_t> index) {
  if (!index) {
    saved_.clear();
    return;
  }
  for (Saved& entry : saved_)
    if (entry.index < 0) entry.index = *index;
}

}  // namespace nexuml
