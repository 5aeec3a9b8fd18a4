#include "data/image_file.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>
// clang-format off
// jpeglib.h wants FILE.
#include <jpeglib.h>
#include <jerror.h>
#include <png.h>
// clang-format on

namespace nexuml_library {

namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

[[noreturn]] void refuse_image(const std::filesystem::path& path, std::string message) {
  throw nexuml::Error("E831", std::move(message), nexuml::Where::in_file(path.string()),
                      "convert it to PNG or JPEG, or remove it");
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, FileCloser>;

OpenFile open_image(const std::filesystem::path& path) {
  OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse_image(path, "the image cannot be opened");
  return file;
}

enum class ImageKind { png, jpeg };

ImageKind kind_of(std::FILE* file, const std::filesystem::path& path) {
  unsigned char begin[8] = {};
  const std::size_t count = std::fread(begin, 1, sizeof begin, file);
  std::rewind(file);
  if (count == sizeof begin && png_sig_cmp(begin, 0, sizeof begin) == 0) return ImageKind::png;
  if (count >= 3 && begin[0] == 0xff && begin[1] == 0xd8 && begin[2] == 0xff) return ImageKind::jpeg;
  refuse_image(path, "the file is neither PNG nor JPEG");
}

void check_size(const ImageInfo& info, const std::filesystem::path& path) {
  if (info.height < 1 || info.width < 1 || info.height > most_pixels / info.width)
    refuse_image(path, fmt::format("an image of {} x {} pixels", info.width, info.height));
}

// libpng's simple interface, whose state is freed whatever happens.
class PngFile {
 public:
  PngFile(std::FILE* file, const std::filesystem::path& path) : path_(path) {
    std::memset(&image_, 0, sizeof image_);
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_stdio(&image_, file) == 0) fail();
  }
  ~PngFile() { png_image_free(&image_); }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  ImageInfo info() const { return {image_.height, image_.width}; }
  at::Tensor read(std::int64_t channels) {
    image_.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    at::Tensor pixels = at::empty({info().height, info().width, channels}, at::kByte);
    const png_color white{255, 255, 255};
    if (png_image_finish_read(&image_, &white, pixels.mutable_data_ptr(), 0, nullptr) == 0) fail();
    return pixels;
  }

 private:
  [[noreturn]] void fail() {
    const std::string reason = image_.message;
    png_image_free(&image_);
    refuse_image(path_, "the PNG image cannot be read: " + reason);
  }

  png_image image_;
  const std::filesystem::path& path_;
};

struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void jump_out(j_common_ptr state) {
  auto* errors = reinterpret_cast<JpegErrors*>(state->err);
  state->err->format_message(state, errors->message);
  std::longjmp(errors->jump, 1);
}
// Says nothing, and counts what means that pixels are missing: not, for example, superfluous bytes.
void note_missing_data(j_common_ptr state, int level) {
  const int code = state->err->msg_code;
  if (level >= 0 || (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER)) return;
  if (state->err->num_warnings++ == 0)
    state->err->format_message(state, reinterpret_cast<JpegErrors*>(state->err)->message);
}

// Four inks to three colours. Adobe's programs write the ink that is missing.
void to_rgb(const unsigned char* inks, bool adobe, std::size_t pixels, unsigned char* colors) {
  const auto paper = [&](unsigned char ink) -> int { return adobe ? ink : 255 - ink; };
  for (std::size_t i = 0; i < pixels; ++i, inks += 4, colors += 3)
    for (int c = 0; c < 3; ++c) colors[c] = static_cast<unsigned char>(paper(inks[c]) * paper(inks[3]) / 255);
}
// ITU-R BT.601, as libjpeg and libpng weigh colours.
void to_grey(const unsigned char* colors, std::size_t pixels, unsigned char* greys) {
  for (std::size_t i = 0; i < pixels; ++i, colors += 3)
    greys[i] = static_cast<unsigned char>((299 * colors[0] + 587 * colors[1] + 114 * colors[2] + 500) / 1000);
}

struct JpegResult {
  bool failed = false;
  ImageInfo info;
  std::vector<unsigned char> pixels;
  bool inks = false;   // four channels, cyan to black
  bool adobe = false;  // which are turned round
};

// libjpeg reports by longjmp: no object with a destructor is made between here and its calls.
void decode_jpeg(std::FILE* file, int channels, bool header_only, JpegErrors& errors, JpegResult& result) {
  jpeg_decompress_struct state;
  std::memset(&state, 0, sizeof state);
  state.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jump_out;
  errors.base.emit_message = note_missing_data;
  if (setjmp(errors.jump) != 0) {
    result.failed = true;
    jpeg_destroy_decompress(&state);
    return;
  }
  jpeg_create_decompress(&state);
  jpeg_stdio_src(&state, file);
  jpeg_read_header(&state, TRUE);
  result.info = {state.image_height, state.image_width};
  const bool too_large = static_cast<std::int64_t>(state.image_height) * state.image_width > most_pixels;
  if (!header_only && !too_large) {
    result.inks = state.jpeg_color_space == JCS_CMYK || state.jpeg_color_space == JCS_YCCK;
    result.adobe = state.saw_Adobe_marker != 0;
    state.out_color_space = result.inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&state);
    const std::size_t stride =
        static_cast<std::size_t>(state.output_width) * static_cast<std::size_t>(state.output_components);
    result.pixels.resize(stride * state.output_height);
    while (state.output_scanline < state.output_height) {
      JSAMPROW row = result.pixels.data() + stride * state.output_scanline;
      jpeg_read_scanlines(&state, &row, 1);
    }
    // A file that is cut off ends with grey and a warning.
    if (errors.base.num_warnings > 0)
      result.failed = true;
    else
      jpeg_finish_decompress(&state);
  }
  jpeg_destroy_decompress(&state);
}

JpegResult jpeg_of(std::FILE* file, const std::filesystem::path& path, int channels, bool header_only) {
  JpegErrors errors;
  JpegResult result;
  decode_jpeg(file, channels, header_only, errors, result);
  if (result.failed) refuse_image(path, fmt::format("the JPEG image cannot be read: {}", errors.message));
  return result;
}

at::Tensor pixels_of(const std::filesystem::path& path, std::int64_t channels) {
  const OpenFile file = open_image(path);
  if (kind_of(file.get(), path) == ImageKind::png) {
    PngFile png(file.get(), path);
    check_size(png.info(), path);
    return png.read(channels);
  }
  const JpegResult jpeg = jpeg_of(file.get(), path, static_cast<int>(channels), false);
  check_size(jpeg.info, path);
  at::Tensor pixels = at::empty({jpeg.info.height, jpeg.info.width, channels}, at::kByte);
  auto* bytes = pixels.mutable_data_ptr<std::uint8_t>();
  if (!jpeg.inks) {
    std::memcpy(bytes, jpeg.pixels.data(), jpeg.pixels.size());
    return pixels;
  }
  const auto count = static_cast<std::size_t>(jpeg.info.height * jpeg.info.width);
  std::vector<unsigned char> colors(channels == 1 ? 3 * count : 0);
  to_rgb(jpeg.pixels.data(), jpeg.adobe, count, channels == 1 ? colors.data() : bytes);
  if (channels == 1) to_grey(colors.data(), count, bytes);
  return pixels;
}

}  // namespace

ImageInfo inspect_image(const std::filesystem::path& path) {
  const OpenFile file = open_image(path);
  const ImageInfo info = kind_of(file.get(), path) == ImageKind::png
                             ? PngFile(file.get(), path).info()
                             : jpeg_of(file.get(), path, 3, true).info;
  check_size(info, path);
  return info;
}

at::Tensor read_image(const std::filesystem::path& path, const ImageShape& shape) {
  const at::Tensor image = pixels_of(path, shape.channels).permute({2, 0, 1});
  if (!shape.size || (shape.size->first == image.size(1) && shape.size->second == image.size(2)))
    return image.contiguous();
  const at::Tensor scaled = at::_upsample_bilinear2d_aa(
      image.to(at::kFloat).unsqueeze(0), {shape.size->first, shape.size->second}, false, {}, {});
  return scaled[0].round_().clamp_(0, 255).to(at::kByte);
}

}  // namespace nexuml_library
