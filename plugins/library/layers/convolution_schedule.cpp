#include "layers/convolution_schedule.h"

#include <torch/nn/modules/activation.h>

#include <string>

namespace nexuml_library {

namespace {

const std::vector<std::int64_t>& default_channels() {
  static const std::vector<std::int64_t> channels{16, 32, 64};
  return channels;
}

std::array<std::int64_t, 2> pair_of(const SizePair& size) {
  if (const auto* pair = std::get_if<std::array<std::int64_t, 2>>(&size)) return *pair;
  return {std::get<std::int64_t>(size), std::get<std::int64_t>(size)};
}

std::array<std::int64_t, 2> pair_at(const std::optional<std::vector<SizePair>>& sizes, std::size_t index,
                                    std::int64_t otherwise) {
  return sizes ? pair_of(sizes->at(index)) : std::array{otherwise, otherwise};
}

}  // namespace

std::vector<ConvolutionStep> convolution_steps(const std::optional<std::vector<std::int64_t>>& channels,
                                               const std::optional<std::vector<SizePair>>& kernels,
                                               const std::optional<std::vector<SizePair>>& strides) {
  std::vector<ConvolutionStep> steps;
  for (const std::int64_t width : channels ? *channels : default_channels())
    steps.push_back({width, pair_at(kernels, steps.size(), 3), pair_at(strides, steps.size(), 2)});
  return steps;
}

void check_schedule(const std::optional<std::vector<std::int64_t>>& channels,
                    const std::optional<std::vector<SizePair>>& kernels,
                    const std::optional<std::vector<SizePair>>& strides, nexuml::RuleProblems& problems) {
  const std::size_t steps = channels ? channels->size() : default_channels().size();
  const auto check = [&](const char* field, const std::optional<std::vector<SizePair>>& sizes) {
    if (sizes && sizes->size() != steps)
      problems.add(field, std::to_string(steps) +
                              " entries expected, one for each entry of channel_schedule; found " +
                              std::to_string(sizes->size()));
  };
  check("kernel_sizes", kernels);
  check("strides", strides);
}

std::shared_ptr<nexuml::TensorModule> convolution_activation(ConvolutionActivation activation) {
  using namespace torch::nn;
  switch (activation) {
    case ConvolutionActivation::gelu:
      return nexuml::tensor_module(GELU());
    case ConvolutionActivation::leaky_relu:
      return nexuml::tensor_module(LeakyReLU(LeakyReLUOptions().negative_slope(0.2)));
    case ConvolutionActivation::silu:
      return nexuml::tensor_module(SiLU());
    default:
      return nexuml::tensor_module(ReLU());
  }
}

}  // namespace nexuml_library
