// ResNet: residual networks of 18 to 152 layers without their classifier; parameter names as torchvision's.
//
//     LayerSpec{.component = ResNet{.resnet_type = ResNetType::resnet50, .cifar_stem = false},
//               .keys_in = {"image"}, .keys_out = {"embedding"}};
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <optional>

namespace nexuml_library {

enum class ResNetType { resnet18, resnet34, resnet50, resnet101, resnet152 };

// Shape: [batch, channels, height, width] -> [batch, 512], from resnet50 on [batch, 2048]
// Formula: mean over pixels of blocks relu(f(x) + x)
// Source: He et al., Deep Residual Learning for Image Recognition, 2016
struct ResNet {
  ResNetType resnet_type = ResNetType::resnet18;
  bool pretrained = false;
  std::optional<bool> cifar_stem = std::nullopt;

  static void describe(nexuml::Schema<ResNet>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::ResNetType> {
  using Type = nexuml_library::ResNetType;
  static constexpr std::pair<Type, const char*> names[] = {{Type::resnet18, "resnet18"},
                                                           {Type::resnet34, "resnet34"},
                                                           {Type::resnet50, "resnet50"},
                                                           {Type::resnet101, "resnet101"},
                                                           {Type::resnet152, "resnet152"}};
};
