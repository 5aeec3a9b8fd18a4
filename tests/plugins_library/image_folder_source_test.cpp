// clang-format off
#include <cstdio>
// jpeglib.h wants FILE.
#include <jpeglib.h>
#include <png.h>
// clang-format on

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

// One colour, `channels` bytes a pixel.
void write_png(const std::filesystem::path& path, unsigned width, unsigned height,
               std::vector<unsigned char> color) {
  std::filesystem::create_directories(path.parent_path());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = color.size() == 4 ? PNG_FORMAT_RGBA : color.size() == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::vector<unsigned char> pixels;
  for (unsigned i = 0; i < width * height; ++i) pixels.insert(pixels.end(), color.begin(), color.end());
  REQUIRE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) != 0);
}

void write_jpeg(const std::filesystem::path& path, unsigned width, unsigned height, unsigned char grey,
                J_COLOR_SPACE space = JCS_RGB) {
  std::filesystem::create_directories(path.parent_path());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  jpeg_error_mgr errors;
  jpeg_compress_struct state;
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  jpeg_stdio_dest(&state, file);
  state.image_width = width;
  state.image_height = height;
  state.input_components = space == JCS_CMYK ? 4 : 3;
  state.in_color_space = space;
  jpeg_set_defaults(&state);
  jpeg_set_quality(&state, 95, TRUE);
  jpeg_start_compress(&state, TRUE);
  std::vector<unsigned char> row(static_cast<std::size_t>(state.input_components) * width, grey);
  JSAMPROW rows = row.data();
  while (state.next_scanline < height) jpeg_write_scanlines(&state, &rows, 1);
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  std::fclose(file);
}

}  // namespace

TEST_CASE(
    "an image folder reads PNG and JPEG, scaled to one size, with classes and splits from its folders") {
  const TemporaryFolder folder;
  write_png(folder.path() / "train/cat/a.png", 4, 2, {255, 0, 51});
  write_jpeg(folder.path() / "train/dog/b.jpg", 8, 8, 102);
  write_png(folder.path() / "test/dog/c.PNG", 2, 2, {0, 0, 0, 0});  // transparent
  folder.write("test/dog/notes.txt", "no image");
  const auto dataset =
      open("image_folder", Value::map({{"root", "."}, {"size", Value(std::vector<std::int64_t>{2, 2})}}),
           folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(batch.x.get("features").sizes().vec() == std::vector<std::int64_t>{3, 3, 2, 2});
  CHECK(dataset->splits() == std::vector<std::string>{"test", "train", "train"});
  CHECK(floats(batch.y->get("label")) == std::vector<float>{1, 0, 1});
  CHECK(floats(batch.x.get("features")[0]) == std::vector<float>(12, 1));  // over white
  CHECK(floats(batch.x.get("features")[1][2]) == std::vector<float>(4, 0.2F));
  CHECK(batch.x.get("features")[2].mean().item<float>() == Approx(0.4).margin(0.01));
}

TEST_CASE("images of several sizes, cut off or of another kind are all named at once") {
  const TemporaryFolder folder;
  write_png(folder.path() / "x/a.png", 2, 2, {1});
  write_png(folder.path() / "x/b.png", 3, 2, {1});
  folder.write("x/c.png", "GIF89a");
  const Value params = Value::map({{"root", "."}, {"channels", 1}});
  CHECK_THAT(failure("image_folder", params, folder.path()),
             Contains("3 x 2 pixels") && Contains("set size") && Contains("neither PNG nor JPEG"));
  std::filesystem::remove(folder.path() / "x/b.png");
  std::filesystem::remove(folder.path() / "x/c.png");
  CHECK(all_rows(*open("image_folder", params, folder.path())).x.get("features").sizes().vec() ==
        std::vector<std::int64_t>{1, 1, 2, 2});
  write_jpeg(folder.path() / "y/d.jpg", 64, 64, 7);
  std::filesystem::resize_file(folder.path() / "y/d.jpg",
                               std::filesystem::file_size(folder.path() / "y/d.jpg") / 2);
  const Value scaled = Value::map({{"root", "."}, {"size", Value(std::vector<std::int64_t>{4, 4})}});
  CHECK_THROWS_WITH(all_rows(*open("image_folder", scaled, folder.path())),
                    Contains("d.jpg") && Contains("cannot be read"));
}

TEST_CASE("a JPEG image whose last lines are missing is refused, one with bytes behind its end is read") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x/a.jpg";
  write_jpeg(file, 64, 64, 7);
  std::ofstream(file, std::ios::binary | std::ios::app) << "more";
  const Value params = Value::map({{"root", "."}});
  CHECK(all_rows(*open("image_folder", params, folder.path())).x.get("features").mean().item<float>() ==
        Approx(7.0 / 255).margin(0.01));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 4 - 30);  // behind the header
  CHECK_THROWS_WITH(all_rows(*open("image_folder", params, folder.path())),
                    Contains("a.jpg") && Contains("cannot be read"));
}

TEST_CASE("a JPEG image in printing colours is read as the colours that it shows") {
  const TemporaryFolder folder;
  // libjpeg writes Adobe's mark with such images: 200 means that 55 of 255 are inked, for all four inks.
  write_jpeg(folder.path() / "x/a.jpg", 16, 16, 200, JCS_CMYK);
  for (const std::int64_t channels : {1, 3}) {
    const Value params = Value::map({{"root", "."}, {"channels", channels}});
    const at::Tensor features = all_rows(*open("image_folder", params, folder.path())).x.get("features");
    CHECK(features.size(1) == channels);
    CHECK(features.mean().item<float>() == Approx(200.0 * 200 / 255 / 255).margin(0.02));
  }
}

TEST_CASE("what lies in a folder of classes and is not read is told, and hidden files are passed over") {
  const TemporaryFolder folder;
  write_png(folder.path() / "train/cat/a.png", 2, 2, {1});
  write_png(folder.path() / "train/loose.png", 2, 2, {1});
  write_png(folder.path() / "test/dog/b.png", 2, 2, {1});
  write_png(folder.path() / "train/.thumbnails/t.png", 2, 2, {1});
  folder.write("train/cat/._a.png", "not an image");
  folder.write("train/cat/c.webp", "RIFF");
  std::filesystem::create_directories(folder.path() / "train/cow");
  nexuml::Diagnostics advice;
  const auto dataset =
      open("image_folder", Value::map({{"root", "."}, {"channels", 1}}), folder.path(), &advice);
  CHECK(dataset->size() == 2);
  CHECK(dataset->class_names().at("label") == std::vector<std::string>{"cat", "dog"});
  CHECK_THAT(advice.to_text(), Contains("without a file make no class: cow") && Contains(".webp (1)") &&
                                   Contains("1 files lie beside") && Contains("never sees: dog"));
}

TEST_CASE("a link in a folder of classes that leads nowhere, or to itself, is named") {
  const TemporaryFolder folder;
  write_png(folder.path() / "x/a.png", 2, 2, {1});
  std::filesystem::create_symlink("/nowhere/b.png", folder.path() / "x/b.png");
  std::filesystem::create_symlink("c.png", folder.path() / "x/c.png");
  std::filesystem::create_symlink("..", folder.path() / "x/up");
  CHECK_THAT(failure("image_folder", Value::map({{"root", "."}}), folder.path()),
             Contains("b.png") && Contains("c.png") && Contains("leads to no file") && !Contains("a.png"));
}
