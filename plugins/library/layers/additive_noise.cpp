#include "layers/additive_noise.h"

#include <nexuml/layer.h>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class AdditiveNoiseRuntime final : public nexuml::PipelineLayer {
 public:
  AdditiveNoiseRuntime(const nexuml::LayerBuildContext& context, double level)
      : PipelineLayer(context), level_(level) {}

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    if (!is_training()) return input;
    return input + at::randn_like(input) * level_ * input.std();
  }

 private:
  const double level_;
};

}  // namespace

void AdditiveNoise::describe(nexuml::Schema<AdditiveNoise>& s) {
  s.summary("Gaussian noise in training, in proportion to the spread of the input.");
  s.field("noise_level", &AdditiveNoise::noise_level)
      .doc("Deviation of the noise in deviations of the input.");
}

nexuml::Shapes AdditiveNoise::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, context.keys_in.size(), context.keys_in.size());
  nexuml::Shapes shapes;
  for (std::size_t i = 0; i < context.keys_in.size(); ++i) {
    if (!nexuml::is_floating(context.input(i).dtype))
      context.fail("noise needs a floating-point input, found " + nexuml::to_string(context.input(i)));
    shapes.outputs[context.output_key(i)] = context.input(i);
  }
  return shapes;
}

std::shared_ptr<nexuml::PipelineLayer> AdditiveNoise::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<AdditiveNoiseRuntime>(context, noise_level);
}

}  // namespace nexuml_library
