// Cutting images into patches to meet the tokens of a reconstruction.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <optional>

namespace nexuml_library {

// Height and width.
using PatchSize = std::array<std::int64_t, 2>;

// The square patch whose channels * size^2 numbers fill a token of `features`; nothing when there is none.
std::optional<PatchSize> square_patch(std::int64_t channels, std::int64_t features);

// [batch, channels, height, width] -> [batch, tokens, channels * patch height * patch width]. The grid is the
// one that covers the image, else the one that fits inside, else as many columns as `tokens` need for the
// rows of either: the image is padded with zeros or cut at the right and the bottom. Nothing when no grid has
// that many tokens.
std::optional<at::Tensor> patches(const at::Tensor& image, PatchSize patch, std::int64_t tokens);

}  // namespace nexuml_library
