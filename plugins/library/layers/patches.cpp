#include "layers/patches.h"

#include <ATen/ops/constant_pad_nd.h>

#include <cmath>

namespace nexuml_library {

namespace {

using Grid = std::array<std::int64_t, 2>;  // rows, columns

std::optional<Grid> grid_of(std::int64_t height, std::int64_t width, PatchSize patch, std::int64_t tokens) {
  const Grid covering{(height + patch[0] - 1) / patch[0], (width + patch[1] - 1) / patch[1]};
  const Grid inside{height / patch[0], width / patch[1]};
  for (const Grid& grid : {covering, inside})
    if (grid[0] * grid[1] == tokens) return grid;
  for (const std::int64_t rows : {covering[0], inside[0]})
    if (rows > 0 && tokens % rows == 0) return Grid{rows, tokens / rows};
  return std::nullopt;
}

}  // namespace

std::optional<PatchSize> square_patch(std::int64_t channels, std::int64_t features) {
  if (channels <= 0 || features % channels != 0) return std::nullopt;
  const auto side =
      static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(features / channels))));
  if (side <= 0 || channels * side * side != features) return std::nullopt;
  return PatchSize{side, side};
}

std::optional<at::Tensor> patches(const at::Tensor& image, PatchSize patch, std::int64_t tokens) {
  const std::int64_t batch = image.size(0), channels = image.size(1);
  const std::optional<Grid> grid = grid_of(image.size(2), image.size(3), patch, tokens);
  if (!grid) return std::nullopt;
  const auto [rows, columns] = *grid;
  // Negative padding cuts.
  return at::constant_pad_nd(image,
                             {0, columns * patch[1] - image.size(3), 0, rows * patch[0] - image.size(2)})
      .reshape({batch, channels, rows, patch[0], columns, patch[1]})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({batch, tokens, channels * patch[0] * patch[1]});
}

}  // namespace nexuml_library
