// ClassificationLoss: cross entropy on class indices, or binary cross entropy on multi-hot labels.
//
//     LayerSpec{.component = ClassificationLoss{}, .keys_in = {"logits"}, .keys_out = {"loss"},
//               .label_key = "class"};
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

enum class ClassificationLossType { cross_entropy, bce, binary_cross_entropy };

// Shape: logits [batch, classes] and labels [batch] or [batch, classes] -> [batch], the batch mean
//   repeated; zeros without labels
// Formula: -log softmax(x)[y], or the mean over classes of -y log s(x) - (1 - y) log(1 - s(x))
struct ClassificationLoss {
  ClassificationLossType loss_type = ClassificationLossType::cross_entropy;
  double label_smoothing = 0.0;

  static void describe(nexuml::Schema<ClassificationLoss>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::ClassificationLossType> {
  using Type = nexuml_library::ClassificationLossType;
  static constexpr std::pair<Type, const char*> names[] = {
      {Type::cross_entropy, "cross_entropy"},
      {Type::bce, "bce"},
      {Type::binary_cross_entropy, "binary_cross_entropy"}};
};
