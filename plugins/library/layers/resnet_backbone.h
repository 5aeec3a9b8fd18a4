// The residual network itself, with torchvision's names: conv1, bn1, layer1.0.conv1, layer1.0.downsample.0,
// ...
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace nexuml_library {

struct ResNetPlan {
  bool bottleneck = false;               // three convolutions a block, the last four times as wide
  std::array<std::int64_t, 4> blocks{};  // in each of the four layers
  std::int64_t input_channels = 3;
  bool small_stem = false;  // for images of 32 pixels: a 3x3 convolution of stride 1 and no pooling

  std::int64_t features() const { return bottleneck ? 2048 : 512; }
};

class ResNetBackbone final : public torch::nn::Module {
 public:
  explicit ResNetBackbone(const ResNetPlan& plan);

  // [batch, channels, height, width] -> [batch, features]
  at::Tensor forward(const at::Tensor& images);

 private:
  class Block;
  void add_layer(const ResNetPlan& plan, std::size_t index);

  bool small_stem_;
  std::int64_t channels_ = 64;  // after what was built so far
  torch::nn::Conv2d stem_;
  torch::nn::BatchNorm2d stem_norm_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace nexuml_library
