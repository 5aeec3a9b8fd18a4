#include "train/strategy_loop.h"

#include <fmt/format.h>
#include <nexuml/pipeline.h>

#include "data/guard.h"
#include "train/strategy_checkpoint.h"

namespace nexuml {

namespace fs = std::filesystem;

TrainingStrategy::TrainingStrategy(ComponentRegistry registry, TrainingLength length)
    : registry_(std::move(registry)), length_(length), loop_(std::make_unique<StrategyLoop>()) {}
TrainingStrategy::TrainingStrategy(TrainingStrategy&&) noexcept = default;
TrainingStrategy& TrainingStrategy::operator=(TrainingStrategy&&) noexcept = default;
TrainingStrategy::~TrainingStrategy() = default;

OrderedMap<double> StrategyView::metrics() const {
  if (!loop_.in_epoch) return loop_.metrics;
  OrderedMap<double> metrics = strategy_.epoch_means.means();
  for (const auto* recorded : {&loop_.recorded, &loop_.step_recorded})
    for (const auto& [name, value] : *recorded) metrics[name] = value;
  return metrics;
}

void StrategyView::request_stop(const std::string& reason) {
  if (loop_.stop_reason.empty()) loop_.stop_reason = reason.empty() ? "a hook asked to stop" : reason;
}

const CheckpointStore& StrategyView::store() const {
  if (!loop_.store)
    throw Error("E846", "this training keeps no checkpoints", {},
                "say where: strategy.keep_checkpoints(...)");
  return *loop_.store;
}

std::int64_t StrategyView::next_checkpoint() const {
  return loop_.writer ? loop_.writer->next() : store().next();
}

std::int64_t StrategyView::save_checkpoint() {
  const CheckpointStore& place = store();
  const Checkpoint checkpoint = strategy_.plan_checkpoint();
  return loop_.writer ? loop_.writer->submit(checkpoint) : place.save(checkpoint);
}

void StrategyView::remove_checkpoint(std::int64_t index) {
  if (loop_.writer)
    loop_.writer->remove(index);
  else
    store().remove(index);
}

template <class Call>
void StrategyView::notify(Call&& call) {
  for (const NamedCallback& entry : strategy_.callbacks)
    guarded("E846", fmt::format("the callback '{}'", entry.name), {}, [&] { call(*entry.callback); });
}

void TrainingStrategy::epoch_begins() {
  StrategyView view(*this);
  if (!loop_->began) view.notify([&](Callback& callback) { callback.fit_start(view); });
  loop_->began = loop_->in_epoch = true;
  loop_->recorded.clear();
  view.notify([&](Callback& callback) { callback.train_epoch_start(view); });
}

void TrainingStrategy::batch_begins() {
  loop_->step_recorded.clear();
  StrategyView view(*this);
  view.notify([&](Callback& callback) { callback.train_batch_start(view); });
}

void TrainingStrategy::batch_done() {
  ++counters.batch;
  ++counters.global_step;
  loop_->in_epoch = true;
  StrategyView view(*this);
  view.notify([&](Callback& callback) { callback.train_batch_end(view); });
}

void TrainingStrategy::epoch_done(const OrderedMap<double>& metrics) {
  loop_->metrics = epoch_means.means();
  for (const auto& [name, value] : metrics) loop_->metrics[name] = value;
  for (const auto& [name, value] : loop_->recorded) loop_->metrics[name] = value;
  loop_->in_epoch = false;
  StrategyView view(*this);
  if (!metrics.empty()) view.notify([&](Callback& callback) { callback.validation_end(view); });
  view.notify([&](Callback& callback) { callback.train_epoch_end(view); });
  ++counters.epoch;
  counters.batch = 0;
  epoch_means.clear();
  for (const StrategyModel& entry : models)
    if (auto* pipeline = dynamic_cast<CompiledPipeline*>(entry.module.get()))
      pipeline->set_epoch(counters.epoch);
  view.notify([&](Callback& callback) { callback.epoch_end(view); });
}

void TrainingStrategy::training_done() {
  StrategyView view(*this);
  view.notify([&](Callback& callback) { callback.fit_end(view); });
  loop_->began = false;
  if (loop_->writer) loop_->writer->finish();
}

const std::string& TrainingStrategy::stop_reason() const noexcept {
  return loop_->stop_reason;
}

void StrategyLoop::go_on_from_loaded() {
  std::error_code ignored;
  const bool here = store && loaded_index >= 0 && fs::equivalent(store->folder(), loaded_from, ignored);
  hook->continue_from(here ? std::optional(loaded_index) : std::nullopt);
}

void TrainingStrategy::keep_checkpoints(const fs::path& folder, CheckpointRules rules, Writing writing) {
  if (rules.every_steps <= 0 && rules.every_epochs <= 0)
    throw Error("E748", "the rules say neither after how many steps nor after how many epochs to save", {},
                "set every_steps or every_epochs");
  if (rules.keep_best > 0 && rules.every_epochs <= 0)
    throw Error("E748", "keep_best compares the metrics of epochs", {}, "set every_epochs");
  loop_->store.emplace(folder);
  loop_->writer =
      writing == Writing::beside_training ? std::make_unique<CheckpointWriter>(*loop_->store) : nullptr;
  std::erase_if(callbacks, [](const NamedCallback& entry) { return entry.name == checkpoints_callback; });
  loop_->hook = std::make_shared<CheckpointHook>(std::move(rules));
  callbacks.push_back({checkpoints_callback, loop_->hook});
  if (!loop_->loaded_rules) return;
  loop_->hook->load_state(*loop_->loaded_rules);
  loop_->loaded_rules.reset();
  loop_->go_on_from_loaded();
}

}  // namespace nexuml
