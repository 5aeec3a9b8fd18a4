// A metric that a callback watches, and which of two values is better.
#pragma once

#include <nexuml/training.h>

#include <string>

namespace nexuml_torch {

enum class MonitorMode { min, max };

// The value after this epoch. Throws Error E847 naming the metrics that there are.
double monitored_value(const nexuml::TrainingView& view, const std::string& metric,
                       const std::string& callback);

// Whether `value` improves on `best` by more than `min_delta`. A value that is not finite improves on
// nothing.
bool improves(MonitorMode mode, double value, double best, double min_delta);

// What every finite value improves on.
double worst(MonitorMode mode);

}  // namespace nexuml_torch

template <>
struct nexuml::EnumText<nexuml_torch::MonitorMode> {
  static constexpr std::pair<nexuml_torch::MonitorMode, const char*> names[] = {
      {nexuml_torch::MonitorMode::min, "min"}, {nexuml_torch::MonitorMode::max, "max"}};
};
