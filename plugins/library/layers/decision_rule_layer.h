// decision_rule_pipeline_layer: decides on anomaly scores by a rule that is fitted after training.
//
//     LayerSpec{.component = DecisionRuleLayer{.rule = {.factory = gamma_rule_path}, .fit_label_key =
//     "y_true"},
//               .keys_in = {"anomaly_score"}, .keys_out = {"decision"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "decision/threshold_rules.h"

namespace nexuml_library {

struct DecisionRuleSpec {
  std::string factory = percentile_rule_path;
  nexuml::Value args = nexuml::Value::list();
  nexuml::Value kwargs = nexuml::Value::map();

  static void describe(nexuml::Schema<DecisionRuleSpec>& s);
};

// Shape: scores [batch] -> decisions [batch], int64: 1 for anomalous; nothing before the fit
// Formula: 1 where score >= threshold
struct DecisionRuleLayer {
  static constexpr bool post_train_fit = true;

  DecisionRuleSpec rule = {};
  std::optional<std::string> fit_mask_key = std::nullopt;
  std::optional<std::string> fit_label_key = std::nullopt;
  std::variant<std::int64_t, double> normal_label_value = std::int64_t{0};

  static void describe(nexuml::Schema<DecisionRuleLayer>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
