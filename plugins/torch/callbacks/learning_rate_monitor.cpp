#include "callbacks/learning_rate_monitor.h"

#include <fmt/format.h>

#include <algorithm>

namespace nexuml_torch {

namespace {

using Group = nexuml::Optimizer::Group;

// Names as Lightning makes them: lr-Adam, lr-Adam-momentum; of several groups lr-Adam/pg1, lr-Adam/pg2.
class RateLog final : public nexuml::Callback {
 public:
  RateLog(const LearningRateMonitor& options, const nexuml::CallbackBuildContext& context)
      : options_(options),
        name_("lr-" + context.optimizer),
        every_step_(options.logging_interval ? *options.logging_interval == "step"
                                             : context.scheduler_every_step),
        advice_(context.advice) {}

  void fit_start(nexuml::TrainingView& view) override {
    const std::vector<Group>& groups = view.optimizer().groups();
    if (options_.log_momentum)
      tell_missing("log_momentum", "momentum", std::ranges::any_of(groups, &has_momentum));
    if (options_.log_weight_decay)
      tell_missing("log_weight_decay", "weight decay", std::ranges::any_of(groups, &has_weight_decay));
  }
  void train_epoch_start(nexuml::TrainingView& view) override {
    if (!every_step_) write([&](const std::string& name, double value) { view.record(name, value); }, view);
  }
  void train_batch_start(nexuml::TrainingView& view) override {
    if (every_step_)
      write([&](const std::string& name, double value) { view.record_step(name, value); }, view);
  }

 private:
  static bool has_momentum(const Group& group) { return group.momentum.has_value(); }
  static bool has_weight_decay(const Group& group) { return group.weight_decay.has_value(); }

  void tell_missing(const char* argument, const char* what, bool there) const {
    if (!there && advice_)
      advice_->warning("W847", fmt::format("LearningRateMonitor: {} has no effect, the optimizer has no {}",
                                           argument, what));
  }

  template <class Record>
  void write(const Record& record, const nexuml::TrainingView& view) const {
    const std::vector<Group>& groups = view.optimizer().groups();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::string group = groups.size() > 1 ? fmt::format("/pg{}", i + 1) : std::string();
      record(name_ + group, groups[i].lr);
      if (options_.log_momentum && groups[i].momentum)
        record(name_ + "-momentum" + group, *groups[i].momentum);
      if (options_.log_weight_decay && groups[i].weight_decay)
        record(name_ + "-weight_decay" + group, *groups[i].weight_decay);
    }
  }

  const LearningRateMonitor options_;
  const std::string name_;
  const bool every_step_;
  nexuml::Diagnostics* const advice_;
};

}  // namespace

void LearningRateMonitor::describe(nexuml::Schema<LearningRateMonitor>& s) {
  s.summary(
      "Writes down the learning rate as lr-<optimizer>, as Lightning's LearningRateMonitor: the one that is "
      "used in the epoch or step.");
  s.field("logging_interval", &LearningRateMonitor::logging_interval)
      .doc(
          "step (to steps.csv and the loggers) or epoch (to metrics.csv too); null: as the scheduler steps.");
  s.field("log_momentum", &LearningRateMonitor::log_momentum)
      .doc("Also the momentum, or the first beta, as lr-<optimizer>-momentum.");
  s.field("log_weight_decay", &LearningRateMonitor::log_weight_decay)
      .doc("Also the weight decay, as lr-<optimizer>-weight_decay.");
  s.check([](const LearningRateMonitor& value, nexuml::RuleProblems& problems) {
    if (value.logging_interval && *value.logging_interval != "step" && *value.logging_interval != "epoch")
      problems.add("logging_interval",
                   "step, epoch or null expected, got text '" + *value.logging_interval + "'");
  });
}

std::shared_ptr<nexuml::Callback> LearningRateMonitor::build(
    const nexuml::CallbackBuildContext& context) const {
  return std::make_shared<RateLog>(*this, context);
}

}  // namespace nexuml_torch
