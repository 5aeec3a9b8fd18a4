// Decision rules: a threshold learned from the scores of normal data; scores that reach it are anomalous.
//
//     decision_rule("nexuml_library.evaluation.anomalous_sound_detection.decision:GammaPercentileRule",
//                   Keyword{"percentile", 95.0})
#pragma once

#include <nexuml/schema.h>
#include <nexuml/target.h>

#include <memory>

namespace nexuml_library {

inline constexpr const char* quantile_rule_path =
    "nexuml_library.evaluation.anomalous_sound_detection.decision:QuantileThresholdRule";
inline constexpr const char* percentile_rule_path =
    "nexuml_library.evaluation.anomalous_sound_detection.decision:PercentileThresholdRule";
inline constexpr const char* gamma_rule_path =
    "nexuml_library.evaluation.anomalous_sound_detection.decision:GammaPercentileRule";

// Shape: scores [batch] -> decisions [batch].
// Formula: score >= threshold; the threshold is the quantile of the scores that it is fitted on,
// interpolated linearly.
struct QuantileThresholdRule {
  double quantile = 0.95;

  static void describe(nexuml::Schema<QuantileThresholdRule>& s);
  std::shared_ptr<nexuml::DecisionRule> build(const nexuml::DecisionRuleBuildContext& context) const;
};

// Shape: scores [batch] -> decisions [batch].
// Formula: score >= threshold; the threshold is the percentile of the scores that it is fitted on,
// interpolated linearly.
struct PercentileThresholdRule {
  double percentile = 95.0;

  static void describe(nexuml::Schema<PercentileThresholdRule>& s);
  std::shared_ptr<nexuml::DecisionRule> build(const nexuml::DecisionRuleBuildContext& context) const;
};

// Shape: scores [batch] -> decisions [batch].
// Formula: score >= threshold; the threshold is the percentile of a gamma distribution that is fitted by
// maximum likelihood to the scores, shifted so that all are above 0; of the scores themselves where that
// fails.
// Source: Minka, Estimating a Gamma distribution, 2002
struct GammaPercentileRule {
  double percentile = 90.0;

  static void describe(nexuml::Schema<GammaPercentileRule>& s);
  std::shared_ptr<nexuml::DecisionRule> build(const nexuml::DecisionRuleBuildContext& context) const;
};

}  // namespace nexuml_library
