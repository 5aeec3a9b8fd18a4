// ConvolutionalEncoder: strided convolutions and a linear layer, from an image to a vector.
//
//     LayerSpec{.component = ConvolutionalEncoder{.output_dim = 64, .channel_schedule = {{16, 32}}},
//               .keys_in = {"spectrogram"}, .keys_out = {"latent"}, .meta_out = {{"decoder_shape",
//               "decoder_shape"}}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "layers/convolution_stack.h"

namespace nexuml_library {

// Shape: [batch, channels, height, width] -> [batch, output_dim]; publishes decoder_shape = [channels,
//   height, width] before the linear layer
// Formula: W flatten(act(BN(conv(x))) ...) + b, padding kernel / 2
struct ConvolutionalEncoder {
  std::int64_t output_dim = 128;
  std::optional<std::vector<std::int64_t>> channel_schedule = std::nullopt;
  std::optional<std::vector<SizePair>> kernel_sizes = std::nullopt;
  std::optional<std::vector<SizePair>> strides = std::nullopt;
  ConvolutionActivation activation = ConvolutionActivation::relu;

  static void describe(nexuml::Schema<ConvolutionalEncoder>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
