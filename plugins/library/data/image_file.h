// Image files: PNG and JPEG.
//
//     ImageInfo info = inspect_image(path);                          // the header alone
//     at::Tensor image = read_image(path, {.channels = 3});          // uint8 [3, height, width]
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace nexuml_library {

struct ImageInfo {
  std::int64_t height = 0, width = 0;
};

// Throws nexuml::Error E831 for what is neither PNG nor JPEG, or is larger than 2^28 pixels.
ImageInfo inspect_image(const std::filesystem::path& path);

struct ImageShape {
  std::int64_t channels = 3;                                       // 1 grey, 3 red, green and blue
  std::optional<std::pair<std::int64_t, std::int64_t>> size = {};  // height and width: scaled to it
};

// uint8 [channels, height, width]; transparent pixels are laid over white. Throws nexuml::Error E831.
at::Tensor read_image(const std::filesystem::path& path, const ImageShape& shape);

}  // namespace nexuml_library
