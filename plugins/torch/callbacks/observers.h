// Callbacks of Lightning whose work a run always does: the lr is a column of metrics.csv, progress is shown.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_torch {

struct LearningRateMonitor {
  std::optional<std::string> logging_interval;
  bool log_momentum = false;
  bool log_weight_decay = false;

  static void describe(nexuml::Schema<LearningRateMonitor>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

struct RichProgressBar {
  std::int64_t refresh_rate = 1;
  bool leave = false;
  nexuml::Value theme;
  nexuml::Value console_kwargs;

  static void describe(nexuml::Schema<RichProgressBar>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

struct DeviceStatsMonitor {
  std::optional<bool> cpu_stats;

  static void describe(nexuml::Schema<DeviceStatsMonitor>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

}  // namespace nexuml_torch
