// What ConvolutionalEncoder and ConvolutionalDecoder share: their schedule of channels, kernels and strides.
#pragma once

#include <nexuml/definition.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml_library {

enum class ConvolutionActivation { relu, gelu, leaky_relu, silu };

// One number for both directions, or height and width.
using SizePair = std::variant<std::int64_t, std::array<std::int64_t, 2>>;

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::ConvolutionActivation> {
  using Type = nexuml_library::ConvolutionActivation;
  static constexpr std::pair<Type, const char*> names[] = {
      {Type::relu, "relu"}, {Type::gelu, "gelu"}, {Type::leaky_relu, "leaky_relu"}, {Type::silu, "silu"}};
};
