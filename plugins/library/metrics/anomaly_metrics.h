// Metrics of anomaly scores: labels are 1 for anomalous, 0 for normal; rows with any other label are left
// out.
#pragma once

#include <nexuml/ordered_map.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nexuml_library {

// Parallel columns; rows without a usable label or with a score that is no number are already left out.
struct LabelledScores {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
};
LabelledScores labelled_scores(std::span<const double> scores, std::span<const double> labels);

// auc, pauc_<100 max_fpr>, f1_optimal, score_mean and score_std (unbiased); with one class only mean and
// deviation, which are those of all scores where no row is labelled.
nexuml::OrderedMap<double> anomaly_metrics(std::span<const double> scores, std::span<const double> labels,
                                           double max_fpr);

// The key of the partial area: pauc_10 for 0.1.
std::string partial_auc_key(double max_fpr);

// F1 of decisions against labels; 0 when nothing is positive.
double decision_f1(std::span<const std::uint8_t> decisions, std::span<const std::uint8_t> labels);

struct GroupMetrics {
  std::optional<double> auc, pauc, f1_optimal;  // nothing where a group has one class only
};
// By group, sorted by name.
nexuml::OrderedMap<GroupMetrics> metrics_per_group(std::span<const double> scores,
                                                   std::span<const double> labels,
                                                   std::span<const std::string> groups, double max_fpr);

// Of the positive finite values; nothing when there is none.
std::optional<double> harmonic_mean(std::span<const double> values);
// Of the values that are defined; nothing when none is.
std::optional<double> mean_of_defined(std::span<const std::optional<double>> values);

}  // namespace nexuml_library
