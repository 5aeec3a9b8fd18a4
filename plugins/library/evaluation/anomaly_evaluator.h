// anomaly_evaluator: AUC, partial AUC, best F1 and DCASE metrics of anomaly scores.
//
//     EvalAlgorithmSpec{.algorithm = AnomalyEvaluator{.score_key = "anomaly_score"}, .label_key = "y_true"}
#pragma once

#include <nexuml/definition.h>
#include <nexuml/ordered_map.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

// Shape: scores [batch], labels [batch]: 1 anomalous, 0 normal, other rows are left out.
// Formula: area under the ROC curve by trapezoids; partial area a up to m = max_fpr, standardised:
// (1 + (a - m^2/2) / (m - m^2/2)) / 2; best F1 over all thresholds; harmonic means over machines, sections
// and domains. Source: McClish, Medical Decision Making 9, 1989; DCASE challenge, task 2
struct AnomalyEvaluator {
  std::string score_key = "anomaly_score";
  std::optional<std::string> decision_key = std::nullopt;
  std::optional<std::vector<std::string>> group_keys = std::nullopt;
  std::optional<nexuml::OrderedMap<std::string>> dcase_metric_axes = std::nullopt;
  double max_fpr = 0.1;

  static void describe(nexuml::Schema<AnomalyEvaluator>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library
