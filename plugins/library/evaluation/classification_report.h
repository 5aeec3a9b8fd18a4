// ClassificationReport: how well the predicted classes meet the labels, in numbers and in files.
//
//     EvalAlgorithmSpec{.algorithm = ClassificationReport{}, .feature_key = "class_logits", .label_key =
//     "label"}
//
// `feature_key` (null: class_logits) holds logits or probabilities [batch, classes], or class numbers
// [batch]. `label_key` (null: the first label that is a class) holds class numbers [batch]. A ratio whose
// denominator is 0 is undefined: null in the report, and 0 within a mean. Means run over the classes that
// occur in labels or predictions, so they do not change with classes that nobody saw.
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: logits or probabilities [batch, classes], or class numbers [batch]; labels [batch].
// Formula: precision = tp / (tp + fp), recall = tp / (tp + fn), F1 = 2 tp / (2 tp + fp + fn), of each class
// and averaged.
struct ClassificationReport {
  static void describe(nexuml::Schema<ClassificationReport>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library
