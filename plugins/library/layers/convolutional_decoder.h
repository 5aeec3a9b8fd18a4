// ConvolutionalDecoder: the way back of a ConvolutionalEncoder, from a vector to an image.
//
//     LayerSpec{.component = ConvolutionalDecoder{.output_shape = {1, 64, 64}}, .keys_in = {"latent"},
//               .keys_out = {"reconstructed"}, .meta_in = {{"decoder_shape", "decoder_shape"}}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "layers/convolution_stack.h"

namespace nexuml_library {

// Shape: [batch, ...] -> [batch, *output_shape]; needs the metadata decoder_shape
// Formula: W x + b reshaped to decoder_shape; per step act(BN(conv(upsample(x)))), bilinear; resized to
//   the output and a 3x3 convolution
struct ConvolutionalDecoder {
  std::vector<std::int64_t> output_shape = {};
  std::optional<std::vector<std::int64_t>> channel_schedule = std::nullopt;
  std::optional<std::vector<SizePair>> kernel_sizes = std::nullopt;
  std::optional<std::vector<SizePair>> strides = std::nullopt;
  ConvolutionActivation activation = ConvolutionActivation::relu;

  static void describe(nexuml::Schema<ConvolutionalDecoder>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
