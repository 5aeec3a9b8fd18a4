// DeviceStatsMonitor: writes down how busy the machine is while it trains.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <memory>
#include <optional>

namespace nexuml_torch {

struct DeviceStatsMonitor {
  std::optional<bool> cpu_stats;

  static void describe(nexuml::Schema<DeviceStatsMonitor>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

}  // namespace nexuml_torch
