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
