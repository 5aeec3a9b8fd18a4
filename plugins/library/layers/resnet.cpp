#include "layers/resnet.h"

#include <nexuml/layer.h>

#include "layers/resnet_backbone.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

ResNetPlan plan_of(const ResNet& definition, std::int64_t channels) {
  ResNetPlan plan{.bottleneck = definition.resnet_type >= ResNetType::resnet50,
                  .blocks = {3, 4, 6, 3},
                  .input_channels = channels,
                  .small_stem = definition.cifar_stem.value_or(!definition.pretrained)};
  if (definition.resnet_type == ResNetType::resnet18) plan.blocks = {2, 2, 2, 2};
  if (definition.resnet_type == ResNetType::resnet101) plan.blocks = {3, 4, 23, 3};
  if (definition.resnet_type == ResNetType::resnet152) plan.blocks = {3, 8, 36, 3};
  return plan;
}

class ResNetRuntime final : public nexuml::PipelineLayer {
 public:
  ResNetRuntime(const nexuml::LayerBuildContext& context, const ResNetPlan& plan)
      : PipelineLayer(context), model_(register_module("model", std::make_shared<ResNetBackbone>(plan))) {}

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return model_->forward(input);
  }

 private:
  std::shared_ptr<ResNetBackbone> model_;
};

}  // namespace

void ResNet::describe(nexuml::Schema<ResNet>& s) {
  s.summary("A residual network without its classifier; parameter names as torchvision's.");
  s.field("resnet_type", &ResNet::resnet_type).doc("Which of the five networks.");
  s.field("pretrained", &ResNet::pretrained)
      .doc(
          "Refused for three channels: nothing is downloaded, load weights through checkpoint.source. For "
          "others it "
          "only chooses the stem where cifar_stem is null.");
  s.field("cifar_stem", &ResNet::cifar_stem)
      .doc(
          "A 3x3 first convolution of stride 1 and no pooling, for small images; null: when not pretrained.");
}

nexuml::Shapes ResNet::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  const nexuml::Shape& shape = context.input().shape;
  if (shape.size() != 3 || shape[0] == nexuml::unknown_size)
    context.fail("an input [channels, height, width] is needed, found " + nexuml::to_string(shape));
  if (pretrained && shape[0] == 3)
    context.fail("this library carries no pretrained weights",
                 "set pretrained: false and cifar_stem: false, and name a state dict of torchvision as "
                 "checkpoint.source");
  return context.single_output(
      {.shape = {plan_of(*this, shape[0]).features()}, .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> ResNet::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<ResNetRuntime>(context, plan_of(*this, context.input().shape.at(0)));
}

}  // namespace nexuml_library
