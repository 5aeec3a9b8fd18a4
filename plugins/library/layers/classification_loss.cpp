#include "layers/classification_loss.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/diagnostic.h>
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
    if (definition_.loss_type != ClassificationLossType::cross_entropy)
      return F::binary_cross_entropy_with_logits(logits, label.to(at::kFloat));
    require_class_numbers(logits, label);
    return F::cross_entropy(logits, label.to(at::kLong),
                            F::CrossEntropyFuncOptions().label_smoothing(definition_.label_smoothing));
  }

  // On the CPU, where looking costs no wait: LibTorch cuts fractions off and says little of the rest.
  void require_class_numbers(const at::Tensor& logits, const at::Tensor& label) const {
    if (label.dim() != logits.dim() - 1)
      throw nexuml::Error(
          "E828",
          fmt::format("the label '{}' has shape [{}] for logits [{}]; a class number for each "
                      "sample is expected",
                      label_name(), fmt::join(label.sizes(), ", "), fmt::join(logits.sizes(), ", ")),
          {}, "for labels with a number a class take loss_type: bce");
    if (!label.is_cpu() || label.numel() == 0) return;
    const at::Tensor numbers = label.to(at::kDouble);
    const auto [low, high] = at::aminmax(numbers);
    const double lowest = low.item<double>(), highest = high.item<double>();
    const bool whole = !label.is_floating_point() || at::equal(numbers, numbers.round());
    if (whole && lowest >= 0 && highest < static_cast<double>(logits.size(1))) return;
    throw nexuml::Error(
        "E828",
        fmt::format(
            "the label '{}' holds {}; whole numbers from 0 to {} are expected, as there are {} logits",
            label_name(), whole ? fmt::format("{}", lowest < 0 ? lowest : highest) : "fractions",
            logits.size(1) - 1, logits.size(1)),
        {}, "correct the labels, or set data.num_classes to their number");
  }
  std::string label_name() const { return label_keys().empty() ? "" : label_keys().front(); }

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
