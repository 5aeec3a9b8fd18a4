// AdditiveNoise: Gaussian noise in training, in proportion to the spread of the input.
//
//     LayerSpec{.component = AdditiveNoise{.noise_level = 0.2}, .keys_in = {"features"}, .keys_out =
//     {"noisy"}};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: unchanged
// Formula: x + noise_level std(x) N(0, 1), the unbiased deviation over the whole batch; x outside of
//   training
struct AdditiveNoise {
  double noise_level = 0.1;

  static void describe(nexuml::Schema<AdditiveNoise>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
