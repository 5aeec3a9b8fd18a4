#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/guard.h"
#include "train/random_streams.h"

namespace nexuml {

namespace {

bool any_layer_is_gated(const CompiledPipeline& pipeline) {
  return std::any_of(pipeline.layers().begin(), pipeline.layers().end(),
                     [](const PipelineEntry& entry) { return !entry.layer->check_update(); });
}

}  // namespace

Trainer::Trainer(TrainingStrategy& strategy, const DataModule& data, TrainerOptions options)
    : strategy_(strategy),
      pipeline_(dynamic_cast<CompiledPipeline&>(strategy.model())),
      optimizer_(strategy.optimizer()),
      scheduler_(strategy.scheduler()),
      data_(data),
      options_(std::move(options)),
      losses_(options_.loss_keys, pipeline_) {}

template <class Call>
void Trainer::notify(Call&& call) {
  for (const NamedCallback& entry : strategy_.callbacks)
    guarded("E846", fmt::format("the callback '{}'", entry.name), {}, [&] { call(*entry.callback); });
}

void Trainer::fit() {
  if (options_.max_epochs <= 0) return;
  if (losses_.empty()) {
    Where where;
    where.key_path = "training.loss_keys";
    throw Error("E841", "training.loss_keys names no loss; there is nothing to train for", where,
                "name the keys that loss layers write, each with a weight");
  }
  const std::unique_ptr<DataLoader> loader = data_.make_loader(Split::train);
  num_batches_ = loader->num_batches();
  if (num_batches_ == 0)
    throw Error(
        "E839",
        fmt::format("no training batch: {} training rows, batch size {}{}", data_.rows(Split::train).size(),
                    data_.batch_size(), data_.drop_last() ? ", drop_last" : ""),
        {}, "give more data, a larger data.train_split or a smaller batch size");

  notify([&](Callback& callback) { callback.fit_start(*this); });
  pipeline_.call_layer_hook(Hook::fit_start);
  if (strategy_.counters.global_step == 0) sanity_check();
  pipeline_.call_layer_hook(Hook::train_start);
  poll_stop();
  while (!stopped() && strategy_.counters.epoch < options_.max_epochs) fit_epoch(*loader);
  moment_ = Moment::outside;
  pipeline_.call_layer_hook(Hook::train_end);
  pipeline_.call_layer_hook(Hook::fit_end);
  notify([&](Callback& callback) { callback.fit_end(*this); });
}

// Two validation batches before the first step, so that a mistake there does not show after an hour. Leaves
// no trace: no number, no draw.
void Trainer::sanity_check() {
  if (data_.rows(Split::val).empty()) return;
  const RandomStreamsGuard random(strategy_.device);
  validate_batches(2);
}

void Trainer::fit_epoch(DataLoader& loader) {
  TrainingCounters& counters = strategy_.counters;
  const double lr = optimizer_.groups().front().lr;
  in_epoch_ = true;
  recorded_.clear();
  moment_ = Moment::epoch;
  pipeline_.train();
  pipeline_.call_layer_hook(Hook::train_epoch_start);
  notify([&](Callback& callback) { callback.train_epoch_start(*this); });
  loader.start_epoch(counters.epoch, counters.batch);
  for (std::optional<Batch> batch = loader.next(); batch; batch = loader.next()) {
    take_batch(*std::move(batch));
    poll_stop();
    // Stopped inside an epoch: what was reached is kept as it is. Stopped at its last batch: the epoch is
    // ended.
    if (stopped() && counters.batch < num_batches_) return;
  }
  finish_epoch(lr);
}

void Trainer::take_batch(Batch batch) {
  moment_ = Moment::step;
  notify([&](Callback& callback) { callback.train_batch_start(*this); });
  train_step(std::move(batch));
  ++strategy_.counters.batch;
  ++strategy_.counters.global_step;
  if (options_.scheduler_every_step) scheduler_.step();
  notify([&](Callback& callback) { callback.train_batch_end(*this); });
  moment_ = Moment::epoch;
  if (step_recorded_.empty()) return;
  if (options_.step_recorded) options_.step_recorded(strategy_.counters.global_step, step_recorded_);
  step_recorded_.clear();
}

LossTerms Trainer::loss_and_gradients(Batch& batch) {
  optimizer_.zero_grad();
  LossTerms losses;
  {
    const PrecisionGuard precision(options_.precision, strategy_.device);
    pipeline_.forward(batch);
    losses = losses_(batch.x);
  }
  if (!losses.total.defined()) return losses;
  if (!losses.total.requires_grad())
    throw Error(
        "E841", "the loss depends on no parameter that can be trained", {},
        "check that the loss layers read what trainable layers write, and that not all weights are frozen");
  losses.total.backward();
  return losses;
}

void Trainer::train_step(Batch batch) {
  const Batch given = on_device(std::move(batch));
  batch = given;
  const std::int64_t samples = batch.batch_size();
  const LossTerms losses = loss_and_gradients(batch);
  if (losses.total.defined()) {
    optimizer_.step_with_loss(losses.total, [&] {
      Batch again = given;
      return loss_and_gradients(again).total;
    });
  } else if (!any_layer_is_gated(pipeline_)) {
    throw Error("E841", "the pipeline wrote none of training.loss_keys into the batch");
  }
  WeightedMeans& means = strategy_.epoch_means;
  if (losses.total.defined()) means.add("train/loss", losses.total, samples);
  for (const auto& [key, value] : losses.terms) means.add("train/" + key, value, samples);
  for (const std::string& key : options_.metric_keys)
    if (const at::Tensor* value = batch.x.find(key))
      means.add("train/" + key, value->detach().to(at::kFloat).mean(), samples);
  if (options_.after_step) options_.after_step(batch, losses);
}

void Trainer::finish_epoch(double lr) {
  last_metrics_.clear();
  last_metrics_["lr"] = lr;
  for (const auto& [name, value] : strategy_.epoch_means.means()) last_metrics_[name] = value;
  const bool validates = !data_.rows(Split::val).empty();
  if (validates)
    for (const auto& [name, value] : validate()) last_metrics_[name] = value;
  for (const auto& [name, value] : recorded_) last_metrics_[name] = value;
  in_epoch_ = false;
  if (validates) notify([&](Callback& callback) { callback.validation_end(*this); });
  pipeline_.call_layer_hook(Hook::train_epoch_end);
  notify([&](Callback& callback) { callback.train_epoch_end(*this); });
  if (!options_.scheduler_every_step) step_scheduler(last_metrics_);
  strategy_.epoch_means.clear();
  ++strategy_.counters.epoch;
  strategy_.counters.batch = 0;
  moment_ = Moment::outside;
  notify([&](Callback& callback) { callback.epoch_end(*this); });
  poll_stop();
}

void Trainer::step_scheduler(const OrderedMap<double>& metrics) {
  const auto monitored = scheduler_.monitor();
  if (!monitored) {
    scheduler_.step();
    return;
  }
  if (const double* value = metrics.find(*monitored)) {
    scheduler_.step_with_metric(*value);
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) names.push_back(name);
  throw Error("E847",
              fmt::format("the scheduler watches the metric '{}', which no epoch gives; there are {}",
                          *monitored, fmt::join(names, ", ")),
              {}, did_you_mean(*monitored, names));
}

Batch Trainer::on_device(Batch batch) const {
  return strategy_.device.is_cpu() ? std::move(batch) : batch.to(strategy_.device, true);
}

OrderedMap<double> Trainer::metrics() const {
  if (!in_epoch_) return last_metrics_;
  OrderedMap<double> metrics = strategy_.epoch_means.means();
  for (const auto& [name, value] : recorded_) metrics[name] = value;
  return metrics;
}

void Trainer::record(const std::string& name, double value) {
  if (moment_ == Moment::outside)
    throw Error("E846", fmt::format("'{}' was recorded where no epoch is in progress", name), {},
                "record from train_epoch_start to train_epoch_end");
  (in_epoch_ ? recorded_ : last_metrics_)[name] = value;
}

void Trainer::record_step(const std::string& name, double value) {
  if (moment_ != Moment::step)
    throw Error("E846", fmt::format("'{}' was recorded where no step is in progress", name), {},
                "record steps in train_batch_start or train_batch_end");
  step_recorded_[name] = value;
}

void Trainer::request_stop(const std::string& reason) {
  if (!stop_reason_) stop_reason_ = reason;
}

void Trainer::poll_stop() {
  if (options_.stop.stop_requested()) request_stop("interrupted");
}

std::int64_t Trainer::next_checkpoint() const {
  if (!options_.next_checkpoint) throw Error("E846", "this run keeps no checkpoints");
  return options_.next_checkpoint();
}

std::int64_t Trainer::save_checkpoint() {
  if (!options_.save_checkpoint) throw Error("E846", "this run keeps no checkpoints");
  return options_.save_checkpoint();
}

void Trainer::remove_checkpoint(std::int64_t index) {
  if (options_.remove_checkpoint) options_.remove_checkpoint(index);
}

}  // namespace nexuml
