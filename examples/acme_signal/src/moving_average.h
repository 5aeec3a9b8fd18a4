// MovingAverage: smooths the last dimension with a window, mixed with the input by a learned weight.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace acme {

struct MovingAverage {
  std::int64_t window = 3;
  double initial_mix = 0.5;

  static void describe(nexuml::Schema<MovingAverage>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace acme
