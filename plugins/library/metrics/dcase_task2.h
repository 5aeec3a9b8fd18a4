// DCASE challenge, task 2: anomalous sounds of machines under domain shift.
//
// Each group is one section of one machine. AUC_source and AUC_target compare the normal recordings of one
// domain with all anomalies of the group, pAUC pools both domains. Omega is the harmonic mean over everything
// that is defined. Rules:
// https://dcase.community/challenge2026/task-first-shot-unsupervised-anomalous-sound-detection
#pragma once

#include <nexuml/ordered_map.h>
#include <nexuml/value.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nexuml_library {

// Parallel columns. Domains: source, src, 0, false and target, tgt, 1, true, in any case.
struct Task2Columns {
  std::span<const double> scores;
  std::span<const double> labels;  // 1 anomalous, 0 normal
  std::span<const std::string> machine, section, domain;
};

struct Task2Group {
  std::string machine, section;
  std::int64_t source_normal = 0, target_normal = 0, anomalies = 0;
  std::optional<double> auc_source, auc_target, pauc, hmean;
};

struct Task2Metrics {
  nexuml::OrderedMap<Task2Group> groups;  // m<machine>_s<section>, sorted
  std::optional<double> omega;
  std::optional<double> mean_auc_source, mean_auc_target, mean_pauc;
  std::optional<double> hmean_auc_source, hmean_auc_target, hmean_pauc;
  std::vector<std::string> warnings;  // what was left out, and why
};

// Throws Error E853 for columns of unequal length. Rows whose score is not finite are left out.
Task2Metrics dcase_task2(const Task2Columns& columns, double max_fpr);

// {per_machine: {group: {...}}, omega, mean_..., hmean_..., hmean_all, warnings}; null for undefined.
nexuml::Value to_value(const Task2Metrics& metrics);

}  // namespace nexuml_library
