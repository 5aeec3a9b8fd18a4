// ClassHistogram: how many samples each class has in training and in test.
//
//     EvalAlgorithmSpec{.algorithm = ClassHistogram{}, .label_key = "digit"}
//
// Where the data has no label `label_key`, the first label that is a class is counted instead. Labels of
// several classes at once ([batch, classes] of 0 and 1) count once for each.
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: labels [batch] of whole numbers, or [batch, classes] of 0 and 1.
// Formula: samples and shares of each class; imbalance_ratio = largest class / smallest class.
struct ClassHistogram {
  std::optional<std::string> title = std::nullopt;

  static void describe(nexuml::Schema<ClassHistogram>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library
