// AnomalyScore: how far a reconstruction is from its original, one number per sample.
//
//     LayerSpec{.component = AnomalyScore{}, .keys_in = {"features", "reconstructed"},
//               .keys_out = {"anomaly_score"}};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

enum class AnomalyReduction { mean, max };

// Shape: original and reconstruction [batch, ...] -> [batch]; the longer one is cut to the length of
//   the other
// Formula: mean or maximum of (x - x')^2 over the sample
struct AnomalyScore {
  AnomalyReduction reduction = AnomalyReduction::mean;

  static void describe(nexuml::Schema<AnomalyScore>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::AnomalyReduction> {
  using Type = nexuml_library::AnomalyReduction;
  static constexpr std::pair<Type, const char*> names[] = {{Type::mean, "mean"}, {Type::max, "max"}};
};
