#include "layers/anomaly_score.h"

#include <nexuml/layer.h>

#include <algorithm>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class AnomalyScoreRuntime final : public nexuml::PipelineLayer {
 public:
  AnomalyScoreRuntime(const nexuml::LayerBuildContext& context, AnomalyReduction reduction)
      : PipelineLayer(context), reduction_(reduction) {}

  void forward(nexuml::Batch& batch) override {
    const at::Tensor original = input(batch, 0).reshape({input(batch, 0).size(0), -1});
    const at::Tensor reconstructed = input(batch, 1).reshape({input(batch, 1).size(0), -1});
    const std::int64_t length = std::min(original.size(1), reconstructed.size(1));
    const at::Tensor error = (original.narrow(1, 0, length) - reconstructed.narrow(1, 0, length)).square();
    set_output(batch, reduction_ == AnomalyReduction::mean ? error.mean(1) : error.amax(1));
  }

 private:
  const AnomalyReduction reduction_;
};

}  // namespace

void AnomalyScore::describe(nexuml::Schema<AnomalyScore>& s) {
  s.summary("How far a reconstruction is from its original, one number per sample.");
  s.field("reduction", &AnomalyScore::reduction).doc("How the errors of a sample become one number.");
}

nexuml::Shapes AnomalyScore::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 2, 1);
  (void)context.input(0), (void)context.input(1);
  return context.single_output(per_sample());
}

std::shared_ptr<nexuml::PipelineLayer> AnomalyScore::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<AnomalyScoreRuntime>(context, reduction);
}

}  // namespace nexuml_library
