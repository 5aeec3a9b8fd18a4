// AnomalyVisualizer: how the anomaly scores of normal and anomalous samples lie apart.
//
//     EvalAlgorithmSpec{.algorithm = AnomalyVisualizer{.score_key = "anomaly_score"}, .label_key = "y_true"}
//
// Labels are 0 for normal and 1 for anomalous (null: y_true); other rows are left out. With `group_keys`,
// each value of these labels or columns gets a plot of its own.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nexuml_library {

// Shape: scores [batch], labels [batch].
// Formula: histograms of 40 bins over the range of all scores, normal beside anomalous.
struct AnomalyVisualizer {
  std::string score_key = "anomaly_score";
  std::vector<std::string> group_keys = {};
  std::int64_t max_plot_samples = 2000;

  static void describe(nexuml::Schema<AnomalyVisualizer>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library
