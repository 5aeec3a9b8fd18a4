#include "callbacks/observers.h"

#include <sys/resource.h>

namespace nexuml_torch {

namespace {

// Peak memory of the process, for the summary of the run.
class DeviceStats final : public nexuml::Callback {
 public:
  nexuml::OrderedMap<double> results() const override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {{"peak_memory_mib", static_cast<double>(usage.ru_maxrss) / 1024.0}};
  }
};

}  // namespace

void LearningRateMonitor::describe(nexuml::Schema<LearningRateMonitor>& s) {
  s.summary("Accepted: the learning rate of each epoch always stands in metrics.csv.");
  s.field("logging_interval", &LearningRateMonitor::logging_interval).doc("Accepted; each epoch.");
  s.field("log_momentum", &LearningRateMonitor::log_momentum).doc("Accepted; has no effect.");
  s.field("log_weight_decay", &LearningRateMonitor::log_weight_decay).doc("Accepted; has no effect.");
  s.check([](const LearningRateMonitor& value, nexuml::RuleProblems& problems) {
    if (value.logging_interval && *value.logging_interval != "step" && *value.logging_interval != "epoch")
      problems.add("logging_interval",
                   "step, epoch or null expected, got text '" + *value.logging_interval + "'");
  });
}

std::shared_ptr<nexuml::Callback> LearningRateMonitor::build(const nexuml::CallbackBuildContext&) const {
  return std::make_shared<nexuml::Callback>();
}

void RichProgressBar::describe(nexuml::Schema<RichProgressBar>& s) {
  s.summary("Accepted: progress is always shown, a bar on a terminal and a line an epoch elsewhere.");
  s.field("refresh_rate", &RichProgressBar::refresh_rate).doc("Accepted; has no effect.").at_least(0);
  s.field("leave", &RichProgressBar::leave).doc("Accepted; has no effect.");
  s.field("theme", &RichProgressBar::theme).doc("Accepted; has no effect.");
  s.field("console_kwargs", &RichProgressBar::console_kwargs).doc("Accepted; has no effect.");
}

std::shared_ptr<nexuml::Callback> RichProgressBar::build(const nexuml::CallbackBuildContext&) const {
  return std::make_shared<nexuml::Callback>();
}

void DeviceStatsMonitor::describe(nexuml::Schema<DeviceStatsMonitor>& s) {
  s.summary("Adds the peak memory of the process to the summary of the run.");
  s.field("cpu_stats", &DeviceStatsMonitor::cpu_stats).doc("Accepted; has no effect.");
}

std::shared_ptr<nexuml::Callback> DeviceStatsMonitor::build(const nexuml::CallbackBuildContext&) const {
  return std::make_shared<DeviceStats>();
}

}  // namespace nexuml_torch
