#include "layers/convolutional_encoder.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "layers/convolution_schedule.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

std::vector<ConvolutionStep> steps_of(const ConvolutionalEncoder& definition) {
  return convolution_steps(definition.channel_schedule, definition.kernel_sizes, definition.strides);
}

// [channels, height, width] after the convolutions.
nexuml::Shape encoded_shape(const nexuml::LayerInferContext& context,
                            const ConvolutionalEncoder& definition) {
  nexuml::Shape shape = context.input().shape;
  if (shape.size() != 3)
    context.fail("an input [channels, height, width] is needed, found " + nexuml::to_string(shape));
  (void)feature_count(context);
  for (const ConvolutionStep& step : steps_of(definition)) {
    shape[0] = step.channels;
    for (std::size_t side = 0; side < 2; ++side) {
      std::int64_t& size = shape[side + 1];
      const std::int64_t room = size + 2 * step.padding()[side] - step.kernel[side];
      if (room < 0)
        context.fail("a kernel of " + std::to_string(step.kernel[side]) + " does not fit a size of " +
                     std::to_string(size));
      size = room / step.stride[side] + 1;
    }
  }
  return shape;
}

class ConvolutionalEncoderRuntime final : public nexuml::PipelineLayer {
 public:
  ConvolutionalEncoderRuntime(const nexuml::LayerBuildContext& context,
                              const ConvolutionalEncoder& definition)
      : PipelineLayer(context), encoder_(register_module("encoder", std::make_shared<TensorSequence>())) {
    std::int64_t channels = context.input().shape.at(0);
    for (const ConvolutionStep& step : steps_of(definition)) {
      auto block = std::make_shared<TensorSequence>();
      block->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, step.channels, step.kernel)
                                             .stride(step.stride)
                                             .padding(step.padding())));
      block->push_back(torch::nn::BatchNorm2d(step.channels));
      block->push_back(convolution_activation(definition.activation));
      encoder_->push_back(nexuml::tensor_module(block));
      channels = step.channels;
    }
    projection_ = register_module(
        "projection",
        torch::nn::Linear(nexuml::element_count(encoded_shape(context, definition)), definition.output_dim));
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return projection_->forward(encoder_->forward(input).flatten(1));
  }

 private:
  std::shared_ptr<TensorSequence> encoder_;
  torch::nn::Linear projection_{nullptr};
};

}  // namespace

void ConvolutionalEncoder::describe(nexuml::Schema<ConvolutionalEncoder>& s) {
  s.summary("Strided convolutions and a linear layer, from an image to a vector.");
  s.field("output_dim", &ConvolutionalEncoder::output_dim).doc("Width of the output.").at_least(1);
  s.field("channel_schedule", &ConvolutionalEncoder::channel_schedule)
      .doc("Channels after each convolution; null: 16, 32, 64.")
      .at_least(1)
      .min_size(1);
  s.field("kernel_sizes", &ConvolutionalEncoder::kernel_sizes)
      .doc("Kernel of each convolution, a number or height and width; null: 3.")
      .at_least(1);
  s.field("strides", &ConvolutionalEncoder::strides)
      .doc("Stride of each convolution, a number or height and width; null: 2.")
      .at_least(1);
  s.field("activation", &ConvolutionalEncoder::activation)
      .doc("After each convolution; leaky_relu has slope 0.2.");
  s.check([](const ConvolutionalEncoder& value, nexuml::RuleProblems& problems) {
    check_schedule(value.channel_schedule, value.kernel_sizes, value.strides, problems);
  });
}

nexuml::Shapes ConvolutionalEncoder::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  const nexuml::Shape encoded = encoded_shape(context, *this);
  nexuml::Shapes shapes = context.single_output({.shape = {output_dim}, .dtype = context.input().dtype});
  shapes.attributes["decoder_shape"] = nexuml::Value(encoded);
  shapes.attributes["flattened_dim"] = nexuml::element_count(encoded);
  return shapes;
}

std::shared_ptr<nexuml::PipelineLayer> ConvolutionalEncoder::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<ConvolutionalEncoderRuntime>(context, *this);
}

}  // namespace nexuml_library
