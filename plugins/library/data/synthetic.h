// Synthetic: seeded random features with labels of any kind, for trials without files.
//
//     DatasetSpec{.source = Synthetic{.feature_shape = {128}, .num_clusters = 5,
//                                     .targets = {{.type = SyntheticTarget::Type::multiclass,
//                                                  .key = "class_labels", .num_classes = 5}}}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nexuml_library {

struct SyntheticTarget {
  enum class Type { multiclass, multilabel, regression, anomaly };
  Type type = Type::multiclass;
  std::string key;
  std::optional<std::int64_t> num_classes = std::nullopt;
  std::optional<std::int64_t> num_outputs = std::nullopt;
  double label_density = 0.3;
  std::optional<double> positive_fraction = std::nullopt;

  static void describe(nexuml::Schema<SyntheticTarget>& s);
};

// Shape: features [feature_shape]; labels [], [num_classes] or [num_outputs].
// Formula: N(0, 1), U[-1, 1), or cluster centres 3 N(0, 1) plus 0.5 N(0, 1); targets: cluster or random
// class, Bernoulli(label_density),
// 0.1 X W + 0.1 N(0, 1), or +3 on all features of a random positive_fraction.
struct Synthetic {
  enum class Noise { gaussian, uniform };
  std::vector<std::int64_t> feature_shape = {128};
  std::int64_t num_samples = 1000;
  Noise noise_type = Noise::gaussian;
  std::optional<std::int64_t> num_clusters = std::nullopt;
  std::vector<SyntheticTarget> targets = {};
  std::int64_t seed = 42;
  std::string feature_key = "features";

  static void describe(nexuml::Schema<Synthetic>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;

  // Classes of a multiclass or multilabel target; a multiclass one may take them from the clusters.
  std::optional<std::int64_t> classes_of(const SyntheticTarget& target) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::SyntheticTarget::Type> {
  using Type = nexuml_library::SyntheticTarget::Type;
  static constexpr std::pair<Type, const char*> names[] = {{Type::multiclass, "multiclass"},
                                                           {Type::multilabel, "multilabel"},
                                                           {Type::regression, "regression"},
                                                           {Type::anomaly, "anomaly"}};
};
template <>
struct nexuml::EnumText<nexuml_library::Synthetic::Noise> {
  using Noise = nexuml_library::Synthetic::Noise;
  static constexpr std::pair<Noise, const char*> names[] = {{Noise::gaussian, "gaussian"},
                                                            {Noise::uniform, "uniform"}};
};
