// Training: optimizers, schedulers and what else takes part in a training loop.
//
//     class SignDescent final : public nexuml::Optimizer {
//      public:
//       SignDescent(const nexuml::OptimizerBuildContext& context, double lr) : Optimizer(context, lr) {}
//       void step() override {
//         torch::NoGradGuard no_grad;
//         for (Group& group : groups())
//           for (auto& [name, parameter] : group.parameters)
//             if (parameter.grad().defined()) parameter.sub_(parameter.grad().sign(), group.lr);
//       }
//     };
//
// State is explicit and complete: what `state()` gives, `load_state` takes back bit for bit, so that a
// resumed run continues as if it had not stopped. Names follow torch where torch has the thing.
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>
#include <nexuml/target.h>
#include <nexuml/tensor_dict.h>
#include <nexuml/value.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace nexuml {

// What a part of the training remembers: tensors by name, and JSON-safe scalars.
struct TrainingState {
  OrderedMap<at::Tensor> tensors;  // "stages.Encoder.00_LinearEncoder.model.0.weight.exp_avg"
  Value scalars = Value::map();
};

struct NamedParameter {
  std::string name;  // stages.Encoder.00_LinearEncoder.model.0.weight
  at::Tensor tensor;
};

// ---- optimizers

struct OptimizerBuildContext {
  std::vector<NamedParameter> parameters;
};

// Computes the loss of the batch in hand and its gradients anew, at the parameters as they are now, and
// returns the loss, a scalar. [training thread]
using LossEvaluation = std::function<at::Tensor()>;

class NEXUML_EXPORT Optimizer {
 public:
  struct Group {
    std::vector<NamedParameter> parameters;
    double lr = 0;
    double initial_lr = 0;
    // Null where the optimizer has none. A scheduler may move the momentum, which is the first beta of the
    // Adam family.
    std::optional<double> momentum = {};
    std::optional<double> weight_decay = {};
  };

  // One group of all parameters.
  Optimizer(const OptimizerBuildContext& context, double lr);
  explicit Optimizer(std::vector<Group> groups) : groups_(std::move(groups)) {}
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  std::vector<Group>& groups() noexcept { return groups_; }
  const std::vector<Group>& groups() const noexcept { return groups_; }

  // One update from the gradients; parameters without one are left alone. Makes no device wait.
  virtual void step() = 0;
  // What the training loop calls: one update by an optimizer that may look at the loss again, such as LBFGS.
  // The gradients are those of `loss`, a scalar. The base calls `step`.
  virtual void step_with_loss(const at::Tensor& loss, const LossEvaluation& evaluate);
  // Drops the gradients (sets them to none, as torch does).
  void zero_grad();

  // The base keeps each group's lr and initial_lr; override to add moments and counters, and call the base.
  // `load_state` throws Error E842 naming what is missing, surplus or of another shape, before it changes
  // anything.
  virtual TrainingState state() const;
  virtual void load_state(const TrainingState& state);

 private:
  std::vector<Group> groups_;
};

// ---- schedulers

struct SchedulerBuildContext {
  Optimizer& optimizer;
  std::int64_t max_epochs = 1;
  std::int64_t steps_per_epoch = 1;
  std::int64_t warmup_epochs = 0;  // SchedulerSpec.warmup, resolved; 0: none asked for
};

// Sets the lr of each group. Built after the optimizer (which sets the lr of step 0), stepped after the
// optimizer's steps of an epoch, or of a step where training.scheduler_interval says so.
class NEXUML_EXPORT Scheduler {
 public:
  explicit Scheduler(Optimizer& optimizer);  // remembers each group's lr as its base
  virtual ~Scheduler();

  // Advances by one and writes the lr of every group.
  virtual void step();
  // Metric that `step_with_metric` waits for (ReduceLROnPlateau); null: `step` is called.
  virtual std::optional<std::string> monitor() const { return std::nullopt; }
  virtual void step_with_metric(double metric);

  std::int64_t steps_taken() const noexcept { return steps_taken_; }  // torch's last_epoch
  std::vector<double> last_lr() const;

  virtual TrainingState state() const;
  virtual void load_state(const TrainingState& state);

 protected:
  // The lr of group `group` after `steps_taken()` steps; `current` is the lr of the step before.
  virtual double next_lr(std::size_t group, double base, double current) const = 0;
  // A derived constructor calls this last: writes the lr of step 0.
  void apply();

  Optimizer& optimizer() noexcept { return optimizer_; }
  double base_lr(std::size_t group) const { return base_lrs_[group]; }

 private:
  Optimizer& optimizer_;
  std::vector<double> base_lrs_;
  std::int64_t steps_taken_ = 0;
};

// ---- losses and their weights

struct LossBuildContext {
  std::string name;
};

// A term of a hand-written training strategy. (Scenarios take their losses from keys of the pipeline.)
class NEXUML_EXPORT LossFunction {
 public:
  virtual ~LossFunction();
  virtual at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target) const = 0;
};

struct WeightScheduleBuildContext {
  std::int64_t max_epochs = 1;
  std::int64_t steps_per_epoch = 1;
};

class NEXUML_EXPORT WeightSchedule {
 public:
  virtual ~WeightSchedule();
  virtual double weight(std::int64_t step, std::int64_t epoch) const = 0;
};

// ---- taking part in the loop

// What callbacks and hooks see of the training. [training thread]
class NEXUML_EXPORT TrainingView {
 public:
  virtual ~TrainingView();
  virtual std::int64_t epoch() const = 0;  // counts from 0
  virtual std::int64_t max_epochs() const = 0;
  virtual std::int64_t batch() const = 0;        // batches of this epoch that are done
  virtual std::int64_t num_batches() const = 0;  // an epoch
  virtual std::int64_t global_step() const = 0;  // batches of all epochs that are done
  // Inside an epoch: means so far. After it: its metrics (train/loss, val/loss, ..., and lr, the one used in
  // it). Reading values of a GPU waits for it.
  virtual OrderedMap<double> metrics() const = 0;
  virtual const Optimizer& optimizer() const = 0;
  virtual at::Device device() const = 0;
  // A number of the epoch in progress, from train_epoch_start to train_epoch_end: one of its metrics, for
  // every logger. Of the same name the later one stays.
  virtual void record(const std::string& name, double value) = 0;
  // A number of the step in progress, in train_batch_start or train_batch_end: for steps.csv and loggers that
  // keep steps.
  virtual void record_step(const std::string& name, double value) = 0;
  // Ends the training: after the step when called in train_batch_end, else after the epoch. `reason` is
  // logged.
  virtual void request_stop(const std::string& reason) = 0;
  // The index that the next checkpoint gets: a callback whose state speaks of the checkpoint that it is about
  // to be saved in needs it before.
  virtual std::int64_t next_checkpoint() const = 0;
  // Saves the whole training state; returns the index of the checkpoint.
  virtual std::int64_t save_checkpoint() = 0;
  virtual void remove_checkpoint(std::int64_t index) = 0;
};

// The moments of the loop, in the order in which they come. Every method may be left out.
class NEXUML_EXPORT Callback {
 public:
  virtual ~Callback();
  virtual void fit_start(TrainingView&) {}
  virtual void train_epoch_start(TrainingView&) {}
  virtual void train_batch_start(TrainingView&) {}
  virtual void train_batch_end(TrainingView&) {}
  virtual void train_epoch_end(TrainingView&) {}
  virtual void validation_end(TrainingView&) {}
  virtual void epoch_end(TrainingView&) {}  // after validation and the scheduler
  virtual void exception(TrainingView&, const std::string& /*message*/) {}
  virtual void fit_end(TrainingView&) {}

  virtual TrainingState state() const { return {}; }
  virtual void load_state(const TrainingState&) {}
  // Numbers for the summary of the run, such as the index of the best checkpoint.
  virtual OrderedMap<double> results() const { return {}; }
};

// How the host shows the progress of a run on stderr.
struct ProgressStyle {
  bool shown = true;
  std::int64_t refresh_rate = 0;  // batches from one drawing of the bar to the next; 0: ten drawings a second
  bool leave = false;             // the bar of an epoch stays
  std::optional<bool> on_terminal;         // null: as stderr is
  bool colored = true;                     // NO_COLOR takes the styles away too
  std::optional<std::int64_t> line_width;  // characters that the bar's line may take; null: as it comes
  std::string metrics_separator = "  ";
  std::string metrics_format = ".4g";  // of fmt
  // Parameters of ECMA-48's SGR, such as "1;31"; empty: plain.
  std::string epoch, bar, bar_finished, batches, time, speed, metrics;
};

struct CallbackBuildContext {
  std::string run_folder;  // relative paths are meant from here
  std::uint64_t seed = 0;
  std::stop_token stop;
  std::string optimizer;              // its class, such as "Adam"
  bool scheduler_every_step = false;  // training.scheduler_interval
  ProgressStyle* progress = nullptr;  // may be changed in `build`; null: nothing is shown
  Diagnostics* advice = nullptr;      // takes warnings, as long as the callback lives; null: nobody listens
};

// A hook of a hand-written training strategy; `name` is unique in it and names its state in checkpoints.
class NEXUML_EXPORT TrainingHook : public Callback {
 public:
  virtual std::string name() const = 0;
};

struct HookBuildContext {
  std::string run_folder;
};

// How the work is spread over devices.
class NEXUML_EXPORT Strategy {
 public:
  virtual ~Strategy();
  virtual std::string name() const = 0;
};

struct StrategyBuildContext {
  std::string accelerator;
  std::int64_t devices = 1;
};

}  // namespace nexuml
