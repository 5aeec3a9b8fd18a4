#include "moving_average.h"

#include <nexuml/layer.h>
#include <torch/nn/functional/pooling.h>

namespace acme {

namespace {

class MovingAverageRuntime final : public nexuml::PipelineLayer {
 public:
  MovingAverageRuntime(const nexuml::LayerBuildContext& context, std::int64_t window, double initial_mix)
      : PipelineLayer(context), window_(window) {
    mix_ = register_parameter("mix", torch::full({1}, initial_mix));
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    namespace F = torch::nn::functional;
    const at::Tensor smooth =
        F::avg_pool1d(
            input.unsqueeze(1),
            F::AvgPool1dFuncOptions(window_).stride(1).padding(window_ / 2).count_include_pad(false))
            .squeeze(1);
    return mix_ * smooth + (1 - mix_) * input;
  }

 private:
  std::int64_t window_;
  at::Tensor mix_;
};

}  // namespace

void MovingAverage::describe(nexuml::Schema<MovingAverage>& s) {
  s.summary("Smooths the last dimension with a window, mixed with the input by a learned weight.");
  s.field("window", &MovingAverage::window).doc("Samples in the window; odd.").at_least(1);
  s.field("initial_mix", &MovingAverage::initial_mix)
      .doc("Share of the smoothed signal at the start.")
      .at_least(0)
      .at_most(1);
  s.check([](const MovingAverage& layer, nexuml::RuleProblems& problems) {
    if (layer.window % 2 == 0) problems.add("window", "the window needs an odd number of samples");
  });
}

nexuml::Shapes MovingAverage::infer(const nexuml::LayerInferContext& context) const {
  if (context.input().shape.size() != 1) context.fail("expected features of [batch, length]");
  return context.single_output(context.input());
}

std::shared_ptr<nexuml::PipelineLayer> MovingAverage::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<MovingAverageRuntime>(context, window, initial_mix);
}

}  // namespace acme
