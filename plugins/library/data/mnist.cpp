#include "data/mnist.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

#include "data/download.h"
#include "data/found_file.h"
#include "data/image_dataset.h"

namespace nexuml_library {

namespace {

constexpr std::size_t most_idx_bytes = std::size_t{1} << 30;
constexpr std::int64_t idx_side = 28, idx_classes = 10;

// The unsigned bytes of an IDX file: two zeros, 8 (unsigned byte), the rank, then sizes as big-endian numbers
// of 32 bits (LeCun, the MNIST database).
at::Tensor read_idx(const std::filesystem::path& path, std::size_t rank) {
  const auto refuse = [&](const std::string& message) {
    throw nexuml::Error("E831", message, nexuml::Where::in_file(path.string()), "fetch the file again");
  };
  const std::size_t header = 4 + 4 * rank;
  const std::string begin = read_first_bytes(path, header);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(begin[i]); };
  if (begin.size() < header)
    refuse(fmt::format("{} bytes; the header of an IDX file has {}", begin.size(), header));
  if (byte(0) != 0 || byte(1) != 0 || byte(2) != 8 || byte(3) != rank)
    refuse(fmt::format(
        "no IDX file of {} dimensions of unsigned bytes: it begins with {:02x} {:02x} {:02x} {:02x}, "
        "expected 00 00 08 {:02x}",
        rank, byte(0), byte(1), byte(2), byte(3), rank));
  std::vector<std::int64_t> sizes;
  std::uint64_t count = 1;
  for (std::size_t i = 4; i < header; i += 4) {
    sizes.push_back(std::int64_t{byte(i)} << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3));
    const auto size = static_cast<std::uint64_t>(sizes.back());
    count = size > 0 && count > most_idx_bytes / size ? most_idx_bytes + 1 : count * size;
  }
  if (count > most_idx_bytes)
    refuse(fmt::format("the header says {} bytes; at most {} are read", fmt::join(sizes, " x "),
                       most_idx_bytes));
  // No more is unpacked than the header announces, and one byte to see that there is more.
  const std::string bytes = read_first_bytes(path, header + count);
  if (bytes.size() != header + count)
    refuse(fmt::format(
        "the header says {} = {} bytes, and {} follow it", fmt::join(sizes, " x "), count,
        bytes.size() > header + count ? std::string("more") : fmt::format("{}", bytes.size() - header)));
  return at::from_blob(const_cast<char*>(bytes.data()) + header, sizes, at::kByte).clone();
}

struct IdxSet {
  const char* name;  // the folder of torchvision
  const char* label_key;
  const char* where;
  const char* md5[4];  // of the archives of training images and labels, test images and labels
  std::vector<std::string> class_names;
};

const IdxSet& digits_set() {
  static const IdxSet set{"MNIST",
                          "digit",
                          "https://ossci-datasets.s3.amazonaws.com/mnist/",
                          {"f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
                           "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"},
                          {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}};
  return set;
}
const IdxSet& fashion_set() {
  static const IdxSet set{"FashionMNIST",
                          "category",
                          "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                          {"8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
                           "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"},
                          {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                           "Sneaker", "Bag", "Ankle boot"}};
  return set;
}

std::vector<std::string> places_of(const IdxSet& set, const std::string& file) {
  std::vector<std::string> places;
  for (const std::string& folder : std::vector<std::string>{"", "raw/", std::string(set.name) + "/raw/"})
    for (const char* ending : {"", ".gz"}) places.push_back(folder + file + ending);
  return places;
}

// The archive of `file`, where neither it nor the file is there.
void fetch_idx(const IdxSet& set, const std::filesystem::path& root, const std::string& file, const char* md5,
               const nexuml::DataContext& context) {
  if (!find_file(root, places_of(set, file)))
    download_file({set.where + file + ".gz", md5}, root / (file + ".gz"), context);
}

std::shared_ptr<nexuml::Dataset> open_idx(const IdxSet& set, const std::filesystem::path& root, bool train,
                                          bool download, const std::string& split,
                                          const nexuml::DataContext& context) {
  const std::string prefix = train ? "train" : "t10k";
  if (download) {
    fetch_idx(set, root, prefix + "-images-idx3-ubyte", set.md5[train ? 0 : 2], context);
    fetch_idx(set, root, prefix + "-labels-idx1-ubyte", set.md5[train ? 1 : 3], context);
  }
  const Publication publication{
      set.name, set.where,
      fmt::format("{0}-images-idx3-ubyte[.gz] and {0}-labels-idx1-ubyte[.gz] in {1}", prefix, root.string())};
  const auto image_file = require_file(root, places_of(set, prefix + "-images-idx3-ubyte"), publication);
  const auto label_file = require_file(root, places_of(set, prefix + "-labels-idx1-ubyte"), publication);
  at::Tensor images = read_idx(image_file, 3);
  const at::Tensor labels = read_idx(label_file, 1).to(at::kLong);
  const auto refuse = [](const std::filesystem::path& file, const std::string& message) {
    throw nexuml::Error("E831", message, nexuml::Where::in_file(file.string()),
                        "fetch both files of one set");
  };
  if (images.size(1) != idx_side || images.size(2) != idx_side)
    refuse(image_file, fmt::format("images of {}x{}; 28x28 expected", images.size(1), images.size(2)));
  if (images.size(0) != labels.size(0))
    refuse(label_file, fmt::format("{} labels for {} images", labels.size(0), images.size(0)));
  if (labels.numel() > 0 && labels.max().item<std::int64_t>() >= idx_classes)
    refuse(label_file, fmt::format("label {}; 0 to 9 expected", labels.max().item<std::int64_t>()));
  return std::make_shared<ImageDataset>(images.unsqueeze(1),
                                        std::vector<ImageLabels>{{set.label_key, labels, set.class_names}},
                                        split, std::vector<std::filesystem::path>{image_file, label_file});
}

nexuml::DataDeclaration idx_declaration(const IdxSet& set) {
  return {.features = {{image_key, {{1, idx_side, idx_side}, nexuml::DType::float32}}},
          .labels = {{set.label_key, {{}, nexuml::DType::int64}}},
          .num_classes = {{set.label_key, idx_classes}}};
}

template <class Source>
void describe_idx(nexuml::Schema<Source>& s) {
  s.field("root", &Source::root).doc("Folder of the files; relative to the data root.");
  s.field("train", &Source::train).doc("The 60,000 training images, else the 10,000 test images.");
  s.field("download", &Source::download).doc("Fetch the files that are missing.");
  s.field("split", &Source::split)
      .doc("Split of every image; null: fit for training images, test for others.");
}

template <class Source>
std::shared_ptr<nexuml::Dataset> build_idx(const IdxSet& set, const Source& source,
                                           const nexuml::DataContext& context) {
  return open_idx(set, context.resolve(source.root), source.train, source.download,
                  source.split.value_or(source.train ? "fit" : "test"), context);
}

}  // namespace

void MNISTDataset::describe(nexuml::Schema<MNISTDataset>& s) {
  s.summary("Handwritten digits (LeCun et al.): features [1, 28, 28] in [0, 1], label digit.");
  describe_idx(s);
}
nexuml::DataDeclaration MNISTDataset::declare() const {
  return idx_declaration(digits_set());
}
std::shared_ptr<nexuml::Dataset> MNISTDataset::build(const nexuml::DataContext& context) const {
  return build_idx(digits_set(), *this, context);
}

void FashionMNISTDataset::describe(nexuml::Schema<FashionMNISTDataset>& s) {
  s.summary("Articles of clothing (Xiao et al., 2017): features [1, 28, 28] in [0, 1], label category.");
  describe_idx(s);
}
nexuml::DataDeclaration FashionMNISTDataset::declare() const {
  return idx_declaration(fashion_set());
}
std::shared_ptr<nexuml::Dataset> FashionMNISTDataset::build(const nexuml::DataContext& context) const {
  return build_idx(fashion_set(), *this, context);
}

}  // namespace nexuml_library
