#include "layers/convolutional_decoder.h"

#include <nexuml/layer.h>
#include <torch/nn/functional/upsampling.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/upsampling.h>

#include <string>

#include "layers/convolution_schedule.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

// [channels, height, width] that the linear layer is reshaped to.
nexuml::Shape decoder_shape(const nexuml::LayerInferContext& context) {
  const nexuml::Value& metadata = context.required_metadata("decoder_shape");
  nexuml::Shape shape;
  if (metadata.is_list())
    for (const nexuml::Value& size : metadata.items())
      if (size.is_integer() && size.as_integer() > 0) shape.push_back(size.as_integer());
  if (shape.size() != 3 || metadata.size() != 3)
    context.fail("decoder_shape must be [channels, height, width], found " +
                 nexuml::describe_for_message(metadata));
  return shape;
}

class ConvolutionalDecoderRuntime final : public nexuml::PipelineLayer {
 public:
  ConvolutionalDecoderRuntime(const nexuml::LayerBuildContext& context,
                              const ConvolutionalDecoder& definition)
      : PipelineLayer(context),
        shape_(decoder_shape(context)),
        height_(definition.output_shape[1]),
        width_(definition.output_shape[2]),
        projection_(register_module(
            "projection", torch::nn::Linear(feature_count(context), nexuml::element_count(shape_)))),
        decoder_(register_module("decoder", std::make_shared<TensorSequence>())) {
    std::vector<ConvolutionStep> steps =
        convolution_steps(definition.channel_schedule, definition.kernel_sizes, definition.strides);
    steps.pop_back();
    std::int64_t channels = shape_[0];
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      decoder_->push_back(nexuml::tensor_module(block(channels, *step, definition.activation)));
      channels = step->channels;
    }
    output_head_ = register_module(
        "output_head",
        torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, definition.output_shape[0], 3).padding(1)));
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    namespace F = torch::nn::functional;
    const at::Tensor start = projection_->forward(input.reshape({input.size(0), -1}))
                                 .view({input.size(0), shape_[0], shape_[1], shape_[2]});
    const at::Tensor decoded = decoder_->forward(start);
    return output_head_->forward(F::interpolate(decoded, F::InterpolateFuncOptions()
                                                             .size(std::vector{height_, width_})
                                                             .mode(torch::kBilinear)
                                                             .align_corners(false)));
  }

 private:
  static std::shared_ptr<TensorSequence> block(std::int64_t channels, const ConvolutionStep& step,
                                               ConvolutionActivation activation) {
    auto sequence = std::make_shared<TensorSequence>();
    const std::vector<double> scale{static_cast<double>(step.stride[0]), static_cast<double>(step.stride[1])};
    sequence->push_back(torch::nn::Upsample(
        torch::nn::UpsampleOptions().scale_factor(scale).mode(torch::kBilinear).align_corners(false)));
    sequence->push_back(torch::nn::Conv2d(
        torch::nn::Conv2dOptions(channels, step.channels, step.kernel).padding(step.padding())));
    sequence->push_back(torch::nn::BatchNorm2d(step.channels));
    sequence->push_back(convolution_activation(activation));
    return sequence;
  }

  const nexuml::Shape shape_;
  const std::int64_t height_, width_;
  torch::nn::Linear projection_;
  std::shared_ptr<TensorSequence> decoder_;
  torch::nn::Conv2d output_head_{nullptr};
};

}  // namespace

void ConvolutionalDecoder::describe(nexuml::Schema<ConvolutionalDecoder>& s) {
  s.summary("The way back of a ConvolutionalEncoder, from a vector to an image.");
  s.field("output_shape", &ConvolutionalDecoder::output_shape)
      .doc("Channels, height and width of the output.")
      .required()
      .at_least(1)
      .min_size(3)
      .max_size(3);
  s.field("channel_schedule", &ConvolutionalDecoder::channel_schedule)
      .doc("The channels of the encoder, which are walked backwards; null: 16, 32, 64.")
      .at_least(1)
      .min_size(1);
  s.field("kernel_sizes", &ConvolutionalDecoder::kernel_sizes)
      .doc("The kernels of the encoder, a number or height and width each; null: 3.")
      .at_least(1);
  s.field("strides", &ConvolutionalDecoder::strides)
      .doc("The strides of the encoder, which become upsampling factors; null: 2.")
      .at_least(1);
  s.field("activation", &ConvolutionalDecoder::activation)
      .doc("After each convolution; leaky_relu has slope 0.2.");
  s.check([](const ConvolutionalDecoder& value, nexuml::RuleProblems& problems) {
    check_schedule(value.channel_schedule, value.kernel_sizes, value.strides, problems);
  });
}

nexuml::Shapes ConvolutionalDecoder::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  (void)feature_count(context);
  (void)decoder_shape(context);
  return context.single_output({.shape = output_shape, .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> ConvolutionalDecoder::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<ConvolutionalDecoderRuntime>(context, *this);
}

}  // namespace nexuml_library
