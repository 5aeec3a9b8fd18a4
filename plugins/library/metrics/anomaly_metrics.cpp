#include "metrics/anomaly_metrics.h"

#include <nexuml/diagnostic.h>

#include <cmath>
#include <limits>
#include <map>

#include "metrics/class_counts.h"
#include "metrics/ranking.h"

namespace nexuml_library {

namespace {

void require_equal_lengths(std::size_t scores, std::size_t others, const char* what) {
  if (scores != others)
    throw nexuml::Error(
        "E853", "there are " + std::to_string(scores) + " scores and " + std::to_string(others) + " " + what);
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const double value : values) moments.mean += value;
  moments.mean /= count;
  for (const double value : values) moments.deviation += (value - moments.mean) * (value - moments.mean);
  moments.deviation = std::sqrt(moments.deviation / (count - 1));
  return moments;
}

}  // namespace

LabelledScores labelled_scores(std::span<const double> scores, std::span<const double> labels) {
  require_equal_lengths(scores.size(), labels.size(), "labels");
  LabelledScores valid;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if ((labels[i] == 0 || labels[i] == 1) && !std::isnan(scores[i])) {
      valid.scores.push_back(scores[i]);
      valid.labels.push_back(labels[i] == 1);
    }
  return valid;
}

std::string partial_auc_key(double max_fpr) {
  return "pauc_" + std::to_string(std::lround(max_fpr * 100));
}

nexuml::OrderedMap<double> anomaly_metrics(std::span<const double> scores, std::span<const double> labels,
                                           double max_fpr) {
  const LabelledScores valid = labelled_scores(scores, labels);
  nexuml::OrderedMap<double> metrics;
  const std::vector<TiedScores> ranking = ranked(valid.scores, valid.labels);
  if (const std::optional<double> auc = roc_auc(ranking)) {
    metrics["auc"] = *auc;
    metrics[partial_auc_key(max_fpr)] = *partial_auc(ranking, max_fpr);
    metrics["f1_optimal"] = best_f1(ranking);
  }
  if (scores.empty()) return metrics;
  const Moments moments = moments_of(valid.scores.empty() ? scores : std::span<const double>(valid.scores));
  metrics["score_mean"] = moments.mean;
  metrics["score_std"] = moments.deviation;
  return metrics;
}

double decision_f1(std::span<const std::uint8_t> decisions, std::span<const std::uint8_t> labels) {
  require_equal_lengths(decisions.size(), labels.size(), "labels");
  ClassCounts counts(2);
  for (std::size_t i = 0; i < decisions.size(); ++i) counts.add(labels[i] != 0, decisions[i] != 0);
  return counts.f1_of(1).value_or(0);
}

nexuml::OrderedMap<GroupMetrics> metrics_per_group(std::span<const double> scores,
                                                   std::span<const double> labels,
                                                   std::span<const std::string> groups, double max_fpr) {
  require_equal_lengths(scores.size(), groups.size(), "groups");
  require_equal_lengths(scores.size(), labels.size(), "labels");
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> columns;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    auto& [group_scores, group_labels] = columns[groups[i]];
    group_scores.push_back(scores[i]);
    group_labels.push_back(labels[i]);
  }
  nexuml::OrderedMap<GroupMetrics> result;
  for (const auto& [group, column] : columns) {
    const LabelledScores valid = labelled_scores(column.first, column.second);
    const std::vector<TiedScores> ranking = ranked(valid.scores, valid.labels);
    GroupMetrics metrics{
        .auc = roc_auc(ranking), .pauc = partial_auc(ranking, max_fpr), .f1_optimal = std::nullopt};
    if (metrics.auc) metrics.f1_optimal = best_f1(ranking);
    result.append(group, metrics);
  }
  return result;
}

std::optional<double> harmonic_mean(std::span<const double> values) {
  double inverse = 0;
  std::int64_t count = 0;
  for (const double value : values)
    if (std::isfinite(value) && value > 0) {
      inverse += 1 / value;
      ++count;
    }
  if (count == 0) return std::nullopt;
  return static_cast<double>(count) / inverse;
}

std::optional<double> mean_of_defined(std::span<const std::optional<double>> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const std::optional<double>& value : values)
    if (value) {
      sum += *value;
      ++count;
    }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace nexuml_library
