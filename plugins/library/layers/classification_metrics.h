// ClassificationMetrics: accuracy, F1 and mean average precision over a validation or test epoch.
//
//     LayerSpec{.component = ClassificationMetrics{}, .keys_in = {"logits"}, .keys_out = {"accuracy"},
//               .label_key = "class"};
//
// The running value after each batch stands in the batch once per sample; the value of the epoch is what
// counts. Validation and test have states of their own, which start empty with their phase.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

enum class MetricAverage { micro, macro, weighted };

// Shape: logits [batch, classes] and labels [batch] (multi-label: [batch, classes]) -> [batch] per
//   metric, the running value repeated; nothing outside of validation and test, zeros without labels
// Formula: accuracy = mean over classes of recall (multi-label: of the share of right decisions at
//   0.5); f1 = 2 tp / (2 tp + fp + fn); map = mean over classes of average precision, one against the
//   rest
struct ClassificationMetrics {
  std::optional<std::vector<std::string>> metrics = std::nullopt;
  MetricAverage average = MetricAverage::macro;
  std::int64_t top_k = 1;
  bool multi_label = false;

  static void describe(nexuml::Schema<ClassificationMetrics>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

// Mean average precision of multi-label logits, as the metric `mAP`.
// Shape: logits and labels [batch, classes] -> [batch], the running value repeated; nothing outside of
//   validation and test, zeros without labels
// Formula: mean over classes of sum_n (R_n - R_{n-1}) P_n on sigmoid(x); a class without positives counts
//   as 0, an epoch without any positive has no value
struct MultiLabelMAPMetrics {
  static void describe(nexuml::Schema<MultiLabelMAPMetrics>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::MetricAverage> {
  using Type = nexuml_library::MetricAverage;
  static constexpr std::pair<Type, const char*> names[] = {
      {Type::micro, "micro"}, {Type::macro, "macro"}, {Type::weighted, "weighted"}};
};
