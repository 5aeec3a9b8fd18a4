// EarlyStopping: ends a training whose metric no longer improves, or is no number any more.
#pragma once

#include <nexuml/schema.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "callbacks/monitored_metric.h"

namespace nexuml_torch {

struct EarlyStopping {
  std::string monitor;
  double min_delta = 0.0;
  std::int64_t patience = 3;
  bool verbose = false;
  MonitorMode mode = MonitorMode::min;
  bool strict = true;
  bool check_finite = true;
  std::optional<double> stopping_threshold;
  std::optional<double> divergence_threshold;
  std::optional<bool> check_on_train_epoch_end;
  bool log_rank_zero_only = false;

  static void describe(nexuml::Schema<EarlyStopping>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

}  // namespace nexuml_torch
