// ModelCheckpoint: Lightning's spelling of saving checkpoints, best and last.
#pragma once

#include <nexuml/schema.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "callbacks/monitored_metric.h"

namespace nexuml_torch {

struct ModelCheckpoint {
  std::optional<std::string> dirpath;
  std::optional<std::string> filename;
  std::optional<std::string> monitor;
  bool verbose = false;
  std::optional<std::variant<bool, std::string>> save_last;
  std::int64_t save_top_k = 1;
  bool save_weights_only = false;
  MonitorMode mode = MonitorMode::min;
  bool auto_insert_metric_name = true;
  std::optional<std::int64_t> every_n_train_steps;
  std::optional<double> train_time_interval;
  std::optional<std::int64_t> every_n_epochs;
  std::optional<bool> save_on_train_epoch_end;
  bool enable_version_counter = true;

  static void describe(nexuml::Schema<ModelCheckpoint>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

}  // namespace nexuml_torch
