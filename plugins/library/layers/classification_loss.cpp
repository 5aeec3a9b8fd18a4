#include "layers/classification_loss.h"

#include <nexuml/layer.h>
#include <torch/nn/functional/loss.h>

#include "layers/batch_loss.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class ClassificationLossRuntime final : public nexuml::PipelineLayer {
 public:
  ClassificationLossRuntime(const nexuml::LayerBuildContext& context, const ClassificationLoss& definition)
      : PipelineLayer(context), definition_(definition) {}

  at::Tensor forward_tensor(const at::Tensor& logits, const at::Tensor& label) override {
    if (!label.defined()) return loss_without_labels(logits);
    return repeated_for_samples(loss(logits, label), logits.size(0));
  }

 private:
  at::Tensor loss(const at::Tensor& logits, const at::Tensor& label) const {
    namespace F = torch::nn::functional;
    if (definition_.loss_type == ClassificationLossType::cross_entropy)
      return F::cross_entropy(logits, label.to(at::kLong),
                              F::CrossEntropyFuncOptions().label_smoothing(definition_.label_smoothing));
    return F::binary_cross_entropy_with_logits(logits, label.to(at::kFloat));
  }

  const ClassificationLoss definition_;
};

}  // namespace

void ClassificationLoss::describe(nexuml::Schema<ClassificationLoss>& s) {
  s.summary(
      "Classification loss: cross entropy on class indices or binary cross entropy on multi-hot labels.");
  s.field("loss_type", &ClassificationLoss::loss_type)
      .doc("cross_entropy for one class per sample; bce or binary_cross_entropy for any number of them.");
  s.field("label_smoothing", &ClassificationLoss::label_smoothing)
      .doc("Share of the target that is spread over all classes; cross entropy only.")
      .at_least(0)
      .at_most(1);
}

nexuml::Shapes ClassificationLoss::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  (void)last_size(context);
  return context.single_output(per_sample());
}

std::shared_ptr<nexuml::PipelineLayer> ClassificationLoss::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<ClassificationLossRuntime>(context, *this);
}

}  // namespace nexuml_library
