#include "callbacks/monitored_metric.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nexuml_torch {

double monitored_value(const nexuml::TrainingView& view, const std::string& metric,
                       const std::string& callback) {
  const nexuml::OrderedMap<double> metrics = view.metrics();
  if (const double* value = metrics.find(metric)) return *value;
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) names.push_back(name);
  throw nexuml::Error("E847",
                      fmt::format("{} watches the metric '{}', which no epoch gives; there are {}", callback,
                                  metric, fmt::join(names, ", ")),
                      {}, nexuml::did_you_mean(metric, names));
}

bool improves(MonitorMode mode, double value, double best, double min_delta) {
  if (!std::isfinite(value)) return false;
  return mode == MonitorMode::min ? value < best - min_delta : value > best + min_delta;
}

double worst(MonitorMode mode) {
  const double infinity = std::numeric_limits<double>::infinity();
  return mode == MonitorMode::min ? infinity : -infinity;
}

}  // namespace nexuml_torch
