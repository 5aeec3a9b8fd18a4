#include "decision/threshold_rules.h"

#include <nexuml/evaluation.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "decision/gamma_fit.h"

namespace nexuml_library {

namespace {

constexpr float smallest_shifted_score = 1e-6F;

// Linear between the two nearest scores. `scores` are sorted.
double quantile_of(const std::vector<double>& scores, double fraction) {
  const double place = fraction * static_cast<double>(scores.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  if (share == 0) return scores[below];
  return scores[below] + share * (scores[below + 1] - scores[below]);
}

std::vector<double> sorted_scores(const at::Tensor& scores) {
  const at::Tensor values = scores.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
  if (values.numel() == 0)
    throw nexuml::Error("E852", "a decision rule needs at least one score of normal data to be fitted on", {},
                        "check fit_mask_key, fit_label_key and normal_label_value");
  if (values.isnan().any().item<bool>())
    throw nexuml::Error("E852", "a decision rule cannot be fitted on scores that are not a number");
  const auto* data = values.const_data_ptr<double>();
  std::vector<double> sorted(data, data + values.numel());
  std::ranges::sort(sorted);
  return sorted;
}

class ThresholdRule : public nexuml::DecisionRule {
 public:
  explicit ThresholdRule(double fraction) : fraction_(fraction) {}

  void fit(const at::Tensor& scores) override {
    const double threshold = threshold_for(sorted_scores(scores));
    if (!std::isfinite(threshold))
      throw nexuml::Error("E852", "infinite scores make the threshold infinite", {},
                          "check why the training gives infinite scores");
    threshold_ = static_cast<float>(threshold);
  }
  double threshold() const override {
    if (!threshold_)
      throw nexuml::Error("E852", "the decision rule has no threshold yet: it was not fitted", {},
                          "fit it on the scores of normal data first");
    return *threshold_;
  }
  at::Tensor decide(const at::Tensor& scores) const override { return scores >= threshold(); }
  nexuml::Value state() const override {
    return nexuml::Value::map({{"threshold", threshold_ ? nexuml::Value(*threshold_) : nexuml::Value()}});
  }
  void load_state(const nexuml::Value& state) override {
    const nexuml::Value* threshold = state.find("threshold");
    if (!threshold || !(threshold->is_null() || threshold->is_number()))
      throw nexuml::Error("E852", "the state of a threshold rule is {threshold: number}, found " +
                                      nexuml::describe_for_message(state));
    threshold_.reset();
    if (threshold->is_number()) threshold_ = static_cast<float>(threshold->as_number());
  }

 protected:
  virtual double threshold_for(const std::vector<double>& scores) const {
    return quantile_of(scores, fraction_);
  }
  const double fraction_;

 private:
  std::optional<float> threshold_;  // in the precision of scores
};

class GammaRule final : public ThresholdRule {
 public:
  using ThresholdRule::ThresholdRule;

 private:
  double threshold_for(const std::vector<double>& scores) const override {
    const double empirical = quantile_of(scores, fraction_);
    if (scores.size() == 1 || !std::isfinite(scores.front()) || !std::isfinite(scores.back()))
      return empirical;
    // The shift is taken in the precision of scores, as NexuML takes it: near zero it decides on the fit.
    const auto lowest = static_cast<float>(scores.front());
    const float shift = lowest > 0 ? 0.0F : smallest_shifted_score - lowest;
    std::vector<double> shifted;
    for (const double score : scores) shifted.push_back(static_cast<float>(score) + shift);
    const std::optional<GammaFit> fit = fit_gamma(shifted);
    if (!fit) return empirical;
    const double quantile = fit->quantile(fraction_) - shift;
    return std::isfinite(quantile) ? quantile : empirical;
  }
};

}  // namespace

void QuantileThresholdRule::describe(nexuml::Schema<QuantileThresholdRule>& s) {
  s.summary("A quantile of the scores of normal data, linear between samples.");
  s.field("quantile", &QuantileThresholdRule::quantile).doc("From 0 to 1.").at_least(0).at_most(1);
}

std::shared_ptr<nexuml::DecisionRule> QuantileThresholdRule::build(
    const nexuml::DecisionRuleBuildContext&) const {
  return std::make_shared<ThresholdRule>(quantile);
}

void PercentileThresholdRule::describe(nexuml::Schema<PercentileThresholdRule>& s) {
  s.summary("A percentile of the scores of normal data, linear between samples.");
  s.field("percentile", &PercentileThresholdRule::percentile).doc("From 0 to 100.").at_least(0).at_most(100);
}

std::shared_ptr<nexuml::DecisionRule> PercentileThresholdRule::build(
    const nexuml::DecisionRuleBuildContext&) const {
  return std::make_shared<ThresholdRule>(percentile / 100);
}

void GammaPercentileRule::describe(nexuml::Schema<GammaPercentileRule>& s) {
  s.summary(
      "A percentile of the gamma distribution fitted to the scores of normal data, which are shifted to be "
      "positive; "
      "of the scores themselves where they have no spread or are infinite.");
  s.field("percentile", &GammaPercentileRule::percentile).doc("From 0 to 100.").at_least(0).at_most(100);
}

std::shared_ptr<nexuml::DecisionRule> GammaPercentileRule::build(
    const nexuml::DecisionRuleBuildContext&) const {
  return std::make_shared<GammaRule>(percentile / 100);
}

}  // namespace nexuml_library
