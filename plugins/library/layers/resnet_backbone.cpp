#include "layers/resnet_backbone.h"

#include <torch/nn/init.h>

#include <string>

namespace nexuml_library {

namespace {

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

constexpr std::array<std::int64_t, 4> layer_widths{64, 128, 256, 512};
constexpr std::int64_t bottleneck_expansion = 4;

}  // namespace

// Two 3x3 convolutions, or 1x1, 3x3 and 1x1, around a shortcut.
class ResNetBackbone::Block final : public torch::nn::Module {
 public:
  Block(std::int64_t in, std::int64_t width, std::int64_t stride, bool bottleneck) {
    const std::int64_t out = bottleneck ? width * bottleneck_expansion : width;
    if (bottleneck) {
      add(in, width, 1, 1);
      add(width, width, 3, stride);  // torchvision strides here, not in the first convolution
      add(width, out, 1, 1);
    } else {
      add(in, width, 3, stride);
      add(width, width, 3, 1);
    }
    if (stride != 1 || in != out) {
      shortcut_ = convolution(in, out, 1, stride);
      shortcut_norm_ = torch::nn::BatchNorm2d(out);
      auto downsample = register_module("downsample", std::make_shared<torch::nn::Module>());
      downsample->register_module("0", shortcut_);
      downsample->register_module("1", shortcut_norm_);
    }
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor value = input;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      if (i > 0) value = value.relu_();
      value = norms_[i]->forward(convolutions_[i]->forward(value));
    }
    const at::Tensor shortcut = shortcut_ ? shortcut_norm_->forward(shortcut_->forward(input)) : input;
    return (value + shortcut).relu_();
  }

 private:
  void add(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    const std::string number = std::to_string(convolutions_.size() + 1);
    convolutions_.push_back(register_module("conv" + number, convolution(in, out, kernel, stride)));
    norms_.push_back(register_module("bn" + number, torch::nn::BatchNorm2d(out)));
  }

  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<torch::nn::BatchNorm2d> norms_;
  torch::nn::Conv2d shortcut_{nullptr};
  torch::nn::BatchNorm2d shortcut_norm_{nullptr};
};

ResNetBackbone::ResNetBackbone(const ResNetPlan& plan)
    : small_stem_(plan.small_stem),
      stem_(register_module("conv1", plan.small_stem ? convolution(plan.input_channels, 64, 3, 1)
                                                     : convolution(plan.input_channels, 64, 7, 2))),
      stem_norm_(register_module("bn1", torch::nn::BatchNorm2d(64))) {
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) add_layer(plan, i);
  // He et al., Delving Deep into Rectifiers, 2015.
  for (const auto& module : modules(/*include_self=*/false))
    if (auto* conv = module->as<torch::nn::Conv2d>())
      torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
}

void ResNetBackbone::add_layer(const ResNetPlan& plan, std::size_t index) {
  auto layer = register_module("layer" + std::to_string(index + 1), std::make_shared<torch::nn::Module>());
  for (std::int64_t i = 0; i < plan.blocks[index]; ++i) {
    const std::int64_t stride = i == 0 && index > 0 ? 2 : 1;
    blocks_.push_back(layer->register_module(
        std::to_string(i), std::make_shared<Block>(channels_, layer_widths[index], stride, plan.bottleneck)));
    channels_ = layer_widths[index] * (plan.bottleneck ? bottleneck_expansion : 1);
  }
}

at::Tensor ResNetBackbone::forward(const at::Tensor& images) {
  at::Tensor value = stem_norm_->forward(stem_->forward(images)).relu_();
  if (!small_stem_) value = at::max_pool2d(value, {3, 3}, {2, 2}, {1, 1});
  for (const auto& block : blocks_) value = block->forward(value);
  return value.mean({2, 3});
}

}  // namespace nexuml_library
