// LearningRateMonitor: writes down the learning rate, and what else the optimizer's groups have.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

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

}  // namespace nexuml_torch
