#include "layers/regression_loss.h"

#include <nexuml/layer.h>
#include <torch/nn/functional/loss.h>

#include <vector>

#include "layers/batch_loss.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class RegressionLossRuntime final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;

  at::Tensor forward_tensor(const at::Tensor& predictions, const at::Tensor& label) override {
    if (!label.defined()) return loss_without_labels(predictions);
    // [batch] and [batch, 1] mean the same; broadcasting would pair every prediction with every label.
    const at::Tensor target = label.to(predictions.dtype());
    const bool same_numbers = target.numel() == predictions.numel();
    // Expanded here: the operator's gradient does not count the numbers that broadcasting adds.
    const std::vector<at::Tensor> pair =
        at::broadcast_tensors({predictions, same_numbers ? target.view_as(predictions) : target});
    const at::Tensor loss = at::mse_loss(pair[0], pair[1]);
    return repeated_for_samples(loss, predictions.size(0));
  }
};

}  // namespace

void RegressionLoss::describe(nexuml::Schema<RegressionLoss>& s) {
  s.summary("Mean squared error between predictions and labels.");
}

nexuml::Shapes RegressionLoss::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  return context.single_output(per_sample());
}

std::shared_ptr<nexuml::PipelineLayer> RegressionLoss::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<RegressionLossRuntime>(context);
}

}  // namespace nexuml_library
