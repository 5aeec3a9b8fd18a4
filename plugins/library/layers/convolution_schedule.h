// The schedule of a convolution stack with its defaults filled in.
#pragma once

#include <nexuml/module.h>
#include <nexuml/schema.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "layers/convolution_stack.h"

namespace nexuml_library {

struct ConvolutionStep {
  std::int64_t channels = 0;
  std::array<std::int64_t, 2> kernel{}, stride{};  // height, width

  std::array<std::int64_t, 2> padding() const { return {kernel[0] / 2, kernel[1] / 2}; }
};

// Channels 16, 32, 64, kernels of 3 and strides of 2 where nothing is given.
std::vector<ConvolutionStep> convolution_steps(const std::optional<std::vector<std::int64_t>>& channels,
                                               const std::optional<std::vector<SizePair>>& kernels,
                                               const std::optional<std::vector<SizePair>>& strides);

// Reports kernels or strides that are not as many as the channels.
void check_schedule(const std::optional<std::vector<std::int64_t>>& channels,
                    const std::optional<std::vector<SizePair>>& kernels,
                    const std::optional<std::vector<SizePair>>& strides, nexuml::RuleProblems& problems);

std::shared_ptr<nexuml::TensorModule> convolution_activation(ConvolutionActivation activation);

}  // namespace nexuml_library
