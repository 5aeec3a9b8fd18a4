// Trainer: fit, validate, post-train fit and test, in Lightning's order and with its metric names.
//
//     Trainer trainer(strategy, data, options);
//     trainer.fit();                        // from strategy.counters on
//     trainer.validate();                   // {"val/loss": ...}
//     trainer.fit_post_train_layers();
//     trainer.test(&evaluation);            // {"test/loss": ..., "eval/...": ...}
//
// An epoch: train_epoch_start, batches, validation, train_epoch_end, scheduler, callbacks' epoch_end. Epoch
// values are means over samples. The loop never waits for a GPU between two steps unless a callback asks for
// values. [training thread]
#pragma once

#include <nexuml/data.h>
#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/scenario.h>
#include <nexuml/training.h>
#include <nexuml/training_strategy.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/data_module.h"
#include "evaluate/evaluation_run.h"
#include "train/device.h"
#include "train/pipeline_losses.h"

namespace nexuml {

struct TrainerOptions {
  OrderedMap<double> loss_keys;
  Keys metric_keys;
  std::int64_t max_epochs = 10;
  bool scheduler_every_step = false;
  Precision precision = Precision::float32;
  std::stop_token stop;                                 // ends the run after the step in progress
  std::function<std::int64_t()> next_checkpoint;        // behind TrainingView::next_checkpoint
  std::function<std::int64_t()> save_checkpoint;        // save_checkpoint
  std::function<void(std::int64_t)> remove_checkpoint;  // and remove_checkpoint
  // Takes what callbacks recorded of a step: its number from 1, and the values by name.
  std::function<void(std::int64_t, const OrderedMap<double>&)> step_recorded;
  // Sees each training batch after its step; for tests and replays.
  std::function<void(const Batch&, const LossTerms&)> after_step;
};

class NEXUML_EXPORT Trainer final : public TrainingView {
 public:
  // The strategy has one compiled pipeline, one optimizer and one scheduler. Throws Error E841 where no layer
  // produces a loss key.
  Trainer(TrainingStrategy& strategy, const DataModule& data, TrainerOptions options);

  void fit();
  OrderedMap<double> validate();
  // Fits the layers that are fitted after training: one pass over the training rows for all that do not
  // depend on one another, then one for those that read what these write, and so on.
  void fit_post_train_layers();
  // `evaluation` may be null.
  OrderedMap<double> test(EvaluationRun* evaluation);

  bool stopped() const noexcept { return stop_reason_.has_value(); }
  const std::string& stop_reason() const { return *stop_reason_; }

  std::int64_t epoch() const override { return strategy_.counters.epoch; }
  std::int64_t max_epochs() const override { return options_.max_epochs; }
  std::int64_t batch() const override { return strategy_.counters.batch; }
  std::int64_t num_batches() const override { return num_batches_; }
  std::int64_t global_step() const override { return strategy_.counters.global_step; }
  OrderedMap<double> metrics() const override;
  const Optimizer& optimizer() const override { return optimizer_; }
  at::Device device() const override { return strategy_.device; }
  // Both throw Error E846 at a moment where the number would reach no logger.
  void record(const std::string& name, double value) override;
  void record_step(const std::string& name, double value) override;
  void request_stop(const std::string& reason) override;
  std::int64_t next_checkpoint() const override;
  std::int64_t save_checkpoint() override;
  void remove_checkpoint(std::int64_t index) override;

 private:
  struct Stage;                                // what distinguishes validating from testing
  enum class Moment { outside, epoch, step };  // what callbacks may record

  void sanity_check();
  void fit_epoch(DataLoader& loader);
  void take_batch(Batch batch);
  void train_step(Batch batch);
  // Forward, losses and, where there is a loss, backward. The keys of the layers are added to `batch`.
  LossTerms loss_and_gradients(Batch& batch);
  void finish_epoch(double lr);
  void step_scheduler(const OrderedMap<double>& metrics);
  Batch on_device(Batch batch) const;
  OrderedMap<double> validate_batches(std::optional<std::int64_t> at_most);
  OrderedMap<double> run_stage(const Stage& stage, Split split, std::optional<std::int64_t> at_most,
                               EvaluationRun* evaluation);
  OrderedMap<double> epoch_metrics(const Stage& stage) const;
  // A predict pass over the training rows in their order.
  void predict(const std::function<void(const Batch&)>& after_batch);
  static EvalBatch eval_batch_of(const Batch& batch, const OrderedMap<MetadataColumn>& columns);
  void poll_stop();
  template <class Call>
  void notify(Call&& call);

  TrainingStrategy& strategy_;
  CompiledPipeline& pipeline_;
  Optimizer& optimizer_;
  Scheduler& scheduler_;
  const DataModule& data_;
  TrainerOptions options_;
  PipelineLosses losses_;
  std::int64_t num_batches_ = 0;
  OrderedMap<double> last_metrics_;  // of the epoch that ended
  OrderedMap<double> recorded_;      // of the epoch in progress
  OrderedMap<double> step_recorded_;
  Moment moment_ = Moment::outside;
  bool in_epoch_ = false;
  std::optional<std::string> stop_reason_;
};

}  // namespace nexuml
