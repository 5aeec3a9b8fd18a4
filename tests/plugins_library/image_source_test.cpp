#include <zlib.h>

#include <chrono>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

std::string big_endian(std::uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}

// `count` images whose every pixel is the number of the image.
std::string idx_images(std::uint32_t count) {
  std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
  for (std::uint32_t i = 0; i < count; ++i) bytes.append(28 * 28, static_cast<char>(i));
  return bytes;
}
std::string idx_labels(const std::string& labels) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}

std::string gzip(const std::string& bytes, const TemporaryFolder& folder) {
  const std::string path = (folder.path() / "packed.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ifstream packed(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(packed), {}};
}

const std::string cifar_cases = std::string(NEXUML_TEST_DATA) + "/cases/D11-cifar-binary/";

std::int64_t byte_at(const nexuml::Batch& batch, std::int64_t i, std::int64_t c, std::int64_t y,
                     std::int64_t x) {
  return std::llround(batch.x.get("features")[i][c][y][x].item<double>() * 255);
}

}  // namespace

TEST_CASE("MNIST is read from raw and from gzip files, in each layout that people have") {
  const std::string layout = GENERATE(as<std::string>{}, "", "raw/", "MNIST/raw/");
  const bool packed = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string ending = packed ? ".gz" : "";
  const std::string images = idx_images(3), labels = idx_labels(std::string("\x07\x00\x09", 3));
  folder.write(layout + "train-images-idx3-ubyte" + ending, packed ? gzip(images, folder) : images);
  folder.write(layout + "train-labels-idx1-ubyte" + ending, packed ? gzip(labels, folder) : labels);
  const auto dataset = open("MNISTDataset", Value::map({{"root", "."}}), folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->features().at("features").shape == nexuml::Shape{1, 28, 28});
  CHECK(batch.x.get("features")[2][0][5][5].item<float>() == Approx(2.0 / 255));
  CHECK(floats(batch.y->get("digit")) == std::vector<float>{7, 0, 9});
  CHECK(dataset->splits() == std::vector<std::string>(3, "fit"));
  CHECK((source("MNISTDataset", Value::map())->declare()->labels == dataset->labels()));
}

TEST_CASE("the test images of FashionMNIST have their own files, label and names") {
  const TemporaryFolder folder;
  folder.write("t10k-images-idx3-ubyte", idx_images(1));
  folder.write("t10k-labels-idx1-ubyte", idx_labels("\x09"));
  const auto dataset =
      open("FashionMNISTDataset", Value::map({{"root", "."}, {"train", false}}), folder.path());
  CHECK(dataset->splits() == std::vector<std::string>{"test"});
  CHECK(dataset->class_names().at("category").at(9) == "Ankle boot");
}

TEST_CASE("IDX files that are missing, of another kind, cut off or do not belong together are refused") {
  const TemporaryFolder folder;
  const auto text = [&] { return failure("MNISTDataset", Value::map({{"root", "."}}), folder.path()); };
  CHECK_THAT(text(), Contains("train-images-idx3-ubyte.gz") && Contains("MNIST/raw/") &&
                         Contains("set download: true"));
  folder.write("train-labels-idx1-ubyte", idx_labels("\x01\x02"));
  folder.write("train-images-idx3-ubyte", "<html>not found, but long enough to be a header</html>");
  CHECK_THAT(text(), Contains("no IDX file") && Contains("3c 68 74 6d"));
  folder.write("train-images-idx3-ubyte", idx_images(2).substr(0, 1000));
  CHECK_THAT(text(), Contains("984 follow"));
  folder.write("train-images-idx3-ubyte", idx_images(3));
  CHECK_THAT(text(), Contains("2 labels for 3 images"));
  folder.write("train-images-idx3-ubyte",
               big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(0xFFFFFFFF) + big_endian(28));
  CHECK_THAT(text(), Contains("header says"));
  const std::string packed = gzip(idx_images(2), folder);
  std::filesystem::remove(folder.path() / "train-images-idx3-ubyte");
  folder.write("train-images-idx3-ubyte.gz", packed.substr(0, packed.size() / 2));
  CHECK_THAT(text(),
             Contains("train-images-idx3-ubyte.gz") && (Contains("cut off") || Contains("unexpected end")));
}

TEST_CASE("CIFAR-10 has one label byte and planes of red, green and blue") {
  nexuml::Diagnostics advice;
  const auto dataset = open("CIFAR10Dataset", Value::map({{"root", cifar_cases + "cifar10"}}), {}, &advice);
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(floats(batch.y->get("class_labels")) == std::vector<float>{3, 9, 0});
  CHECK(byte_at(batch, 0, 0, 0, 0) == 78);
  CHECK(byte_at(batch, 0, 2, 31, 31) == 173);
  CHECK(byte_at(batch, 1, 1, 5, 7) == 158);
  CHECK(std::llround(batch.x.get("features")[2].to(at::kDouble).sum().item<double>() * 255) == 398452);
  CHECK(dataset->class_names().at("class_labels").at(3) == "cat");
  CHECK_THAT(advice.to_text(), Contains("without 4 of its 5 batches") && Contains("data_batch_5.bin"));
}

TEST_CASE("CIFAR-100 has a coarse and a fine label byte") {
  const auto dataset = open("CIFAR100Dataset", Value::map({{"root", cifar_cases + "cifar100"}}));
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(floats(batch.y->get("class_labels")) == std::vector<float>{98, 0, 41});
  CHECK(floats(batch.y->get("coarse_labels")) == std::vector<float>{11, 4, 19});
  CHECK(std::llround(batch.x.get("features")[2].to(at::kDouble).sum().item<double>() * 255) == 398452);
}

TEST_CASE("CIFAR files of a wrong size, with wrong labels or of the other set are refused") {
  const auto text = [](const std::string& name) {
    return failure("CIFAR10Dataset", Value::map({{"root", cifar_cases + name}}));
  };
  CHECK_THAT(text("cifar10_short"), Contains("records of 3073 bytes") && Contains("cut off"));
  CHECK_THAT(text("cifar10_badlabel"), Contains("record 2 has the label 10"));
  CHECK_THAT(text("mixed_up"), Contains("3073") && Contains("is it CIFAR-100?"));
  CHECK_THAT(text("cifar10_empty"), Contains("empty"));
  CHECK_THAT(text("nowhere"), Contains("data_batch_1.bin") && Contains("cifar-10-batches-bin/"));
}

TEST_CASE("CIFAR batches that Python pickled give the same images, and run no code") {
  const std::string pickles = std::string(NEXUML_TEST_DATA) + "/cifar_pickle/";
  const nexuml::Batch binary =
      all_rows(*open("CIFAR10Dataset", Value::map({{"root", cifar_cases + "cifar10"}})));
  for (const char* spelling : {"python2", "protocol4", "protocol5", "column_major"}) {
    INFO(spelling);
    const nexuml::Batch pickled =
        all_rows(*open("CIFAR10Dataset", Value::map({{"root", pickles + spelling}})));
    CHECK(pickled.x.get("features").equal(binary.x.get("features")));
    CHECK(pickled.y->get("class_labels").equal(binary.y->get("class_labels")));
  }
  const auto hundred = all_rows(*open("CIFAR100Dataset", Value::map({{"root", pickles + "cifar100"}})));
  CHECK(floats(hundred.y->get("class_labels")) == std::vector<float>{98, 0, 41});
  CHECK_THAT(failure("CIFAR10Dataset", Value::map({{"root", pickles + "hostile"}})),
             Contains("posix.system") && Contains("nothing was executed"));
  CHECK_FALSE(std::filesystem::exists("/tmp/nexuml-was-run"));
}

TEST_CASE("an IDX file that unpacks to more than its header says is left at once") {
  const TemporaryFolder folder;
  const std::string bomb = gzip(idx_images(3) + std::string(std::size_t{512} << 20, '\0'), folder);
  folder.write("train-images-idx3-ubyte.gz", bomb);
  folder.write("train-labels-idx1-ubyte", idx_labels("\x01\x02\x03"));
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(failure("MNISTDataset", Value::map({{"root", "."}}), folder.path()),
             Contains("3 x 28 x 28 = 2352 bytes, and more follow"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500));
  folder.write("train-images-idx3-ubyte.gz",
               big_endian(0x803) + big_endian(0xffffffff) + big_endian(28) + big_endian(28));
  CHECK_THAT(failure("MNISTDataset", Value::map({{"root", "."}}), folder.path()),
             Contains("4294967295 x 28 x 28 bytes; at most"));
}
