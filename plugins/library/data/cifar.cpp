#include "data/cifar.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <sstream>
#include <vector>

#include "data/cifar_pickle.h"
#include "data/download.h"
#include "data/found_file.h"
#include "data/image_dataset.h"

namespace nexuml_library {

namespace {

constexpr std::size_t most_batch_bytes = std::size_t{1} << 30;
constexpr std::int64_t cifar_channels = 3, cifar_side = 32,
                       cifar_pixels = cifar_channels * cifar_side * cifar_side;

// One of the label bytes in front of each image.
struct LabelByte {
  const char* key;
  std::int64_t classes;
  const char* names_file;  // of the archive
};

// A record is the label bytes, then the red, the green and the blue plane, row by row.
struct BatchFormat {
  const char* name;
  const char* folder;             // of the archive
  std::vector<LabelByte> labels;  // in the order of the bytes
  std::vector<std::string> training_files, test_files;
  const char* archive;
  const char* md5;
  const char* pickle_folder;                // of the archive for Python
  std::vector<const char*> pickled_labels;  // its lists, in the order of `labels`
  std::vector<std::string> class_names;     // of the last label byte, where no file gives them

  std::int64_t record_size() const { return static_cast<std::int64_t>(labels.size()) + cifar_pixels; }
};

const BatchFormat& cifar10_format() {
  static const BatchFormat format{
      "CIFAR-10",
      "cifar-10-batches-bin",
      {{"class_labels", 10, "batches.meta.txt"}},
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      {"test_batch.bin"},
      "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
      "c32a1d4ab5d03f1284b67883e8d87530",
      "cifar-10-batches-py",
      {"labels"},
      {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}};
  return format;
}
const BatchFormat& cifar100_format() {
  static const BatchFormat format{
      "CIFAR-100",
      "cifar-100-binary",
      {{"coarse_labels", 20, "coarse_label_names.txt"}, {"class_labels", 100, "fine_label_names.txt"}},
      {"train.bin"},
      {"test.bin"},
      "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
      "03b5dce01913d631647c71ecec9e9cb8",
      "cifar-100-python",
      {"coarse_labels", "fine_labels"},
      {}};
  return format;
}

// Records of one file as bytes [records, record size].
at::Tensor read_records(const std::filesystem::path& file, const BatchFormat& format) {
  const std::string bytes = read_bytes(file, most_batch_bytes);
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    throw nexuml::Error("E831", message, nexuml::Where::in_file(file.string()), hint);
  };
  const auto size = static_cast<std::int64_t>(bytes.size()), record = format.record_size();
  if (size == 0) refuse("the file is empty", "fetch it again");
  if (size % record != 0) {
    const BatchFormat& other = format.labels.size() == 1 ? cifar100_format() : cifar10_format();
    refuse(fmt::format("{} bytes are no whole number of records of {} bytes", size, record),
           size % other.record_size() == 0
               ? fmt::format("the size is that of {} records: is it {}?", other.name, other.name)
               : std::string("the file was cut off; fetch it again"));
  }
  return at::from_blob(const_cast<char*>(bytes.data()), {size / record, record}, at::kByte).clone();
}

void check_labels(const at::Tensor& records, const std::filesystem::path& file, const BatchFormat& format) {
  for (std::size_t i = 0; i < format.labels.size(); ++i) {
    const LabelByte& label = format.labels[i];
    const at::Tensor bad = records.select(1, static_cast<std::int64_t>(i)).ge(label.classes).nonzero();
    if (bad.numel() > 0) {
      const auto row = bad[0].item<std::int64_t>();
      throw nexuml::Error(
          "E831",
          fmt::format("record {} has the label {} for '{}'; 0 to {} expected", row,
                      records[row][static_cast<std::int64_t>(i)].item<int>(), label.key, label.classes - 1),
          nexuml::Where::in_file(file.string()), fmt::format("the file may be no {} batch", format.name));
    }
  }
}

std::vector<std::string> in_both_folders(const BatchFormat& format, const std::string& file) {
  return {file, std::string(format.folder) + "/" + file, file + ".gz"};
}

// Python's files have no ending.
std::vector<std::string> pickled_places(const BatchFormat& format, const std::string& file) {
  const std::string name = std::filesystem::path(file).stem().string();
  return {name, std::string(format.pickle_folder) + "/" + name};
}

std::vector<std::string> all_places(const BatchFormat& format, const std::string& file) {
  std::vector<std::string> places = in_both_folders(format, file);
  for (std::string& place : pickled_places(format, file)) places.push_back(std::move(place));
  return places;
}

std::vector<std::string> class_names(const BatchFormat& format, const LabelByte& label,
                                     const std::filesystem::path& root) {
  std::vector<std::string> names;
  if (const auto file = find_file(root, in_both_folders(format, label.names_file))) {
    std::istringstream lines(read_bytes(*file, std::size_t{1} << 20));
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && line != "\r") names.push_back(line.substr(0, line.find('\r')));
  }
  const auto count = static_cast<std::size_t>(label.classes);
  if (names.size() != count) names = format.class_names;
  for (std::size_t i = names.size(); i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// The whole archive, where none of `files` is there.
void fetch_archive(const BatchFormat& format, const std::filesystem::path& root,
                   const std::vector<std::string>& files, const nexuml::DataContext& context) {
  for (const std::string& file : files)
    if (find_file(root, all_places(format, file))) return;
  const std::string url = format.archive;
  const std::filesystem::path archive = root / url.substr(url.rfind('/') + 1);
  download_file({url, format.md5}, archive, context);
  std::vector<std::string> wanted = format.training_files;
  wanted.insert(wanted.end(), format.test_files.begin(), format.test_files.end());
  for (const LabelByte& label : format.labels) wanted.emplace_back(label.names_file);
  unpack_tar(archive, root / format.folder, wanted);
}

template <class Source>
std::shared_ptr<nexuml::Dataset> open_batches(const BatchFormat& format, const Source& source,
                                              const nexuml::DataContext& context) {
  const std::filesystem::path root = context.resolve(source.root);
  const auto& files = source.train ? format.training_files : format.test_files;
  if (source.download) fetch_archive(format, root, files, context);
  std::vector<at::Tensor> parts;
  std::vector<std::string> missing;
  std::vector<std::filesystem::path> found;
  for (const std::string& name : files) {
    if (const auto file = find_file(root, in_both_folders(format, name))) {
      parts.push_back(read_records(*file, format));
      found.push_back(*file);
    } else if (const auto pickle = find_file(root, pickled_places(format, name))) {
      parts.push_back(read_pickled_records(*pickle, format.pickled_labels));
      found.push_back(*pickle);
    } else {
      missing.push_back(name);
      continue;
    }
    check_labels(parts.back(), found.back(), format);
  }
  if (parts.empty())
    (void)require_file(
        root, all_places(format, files.front()),
        {format.name, format.archive, fmt::format("{} in {}", fmt::join(files, ", "), root.string())});
  if (!missing.empty() && context.advice)
    context.advice
        ->warning("W831",
                  fmt::format("{} is read without {} of its {} batches: {} missing", format.name,
                              missing.size(), files.size(), fmt::join(missing, ", ")),
                  nexuml::Where::in_file(root.string()))
        .hint = "fetch the whole archive";

  const at::Tensor records = at::cat(parts);
  const auto label_bytes = static_cast<std::int64_t>(format.labels.size());
  std::vector<ImageLabels> labels;
  for (std::size_t i = format.labels.size(); i-- > 0;)  // the finest first
    labels.push_back({format.labels[i].key, records.select(1, static_cast<std::int64_t>(i)).to(at::kLong),
                      class_names(format, format.labels[i], root)});
  return std::make_shared<ImageDataset>(
      records.narrow(1, label_bytes, cifar_pixels)
          .reshape({records.size(0), cifar_channels, cifar_side, cifar_side})
          .contiguous(),
      std::move(labels), source.split.value_or(source.train ? "fit" : "test"), std::move(found));
}

nexuml::DataDeclaration batch_declaration(const BatchFormat& format) {
  nexuml::DataDeclaration declared;
  declared.features[image_key] = {{cifar_channels, cifar_side, cifar_side}, nexuml::DType::float32};
  for (std::size_t i = format.labels.size(); i-- > 0;) {
    declared.labels[format.labels[i].key] = {{}, nexuml::DType::int64};
    declared.num_classes[format.labels[i].key] = format.labels[i].classes;
  }
  return declared;
}

template <class Source>
void describe_batches(nexuml::Schema<Source>& s) {
  s.field("root", &Source::root).doc("Folder of the files; relative to the data root.");
  s.field("train", &Source::train).doc("The 50,000 training images, else the 10,000 test images.");
  s.field("download", &Source::download).doc("Fetch the archive where no file is there.");
  s.field("split", &Source::split)
      .doc("Split of every image; null: fit for training images, test for others.");
}

}  // namespace

void CIFAR10Dataset::describe(nexuml::Schema<CIFAR10Dataset>& s) {
  s.summary(
      "Colour images of ten classes (Krizhevsky, 2009): features [3, 32, 32] in [0, 1], label class_labels.");
  describe_batches(s);
}
nexuml::DataDeclaration CIFAR10Dataset::declare() const {
  return batch_declaration(cifar10_format());
}
std::shared_ptr<nexuml::Dataset> CIFAR10Dataset::build(const nexuml::DataContext& context) const {
  return open_batches(cifar10_format(), *this, context);
}

void CIFAR100Dataset::describe(nexuml::Schema<CIFAR100Dataset>& s) {
  s.summary(
      "Colour images of a hundred classes in 20 groups (Krizhevsky, 2009): features [3, 32, 32] in [0, 1], "
      "labels "
      "class_labels and coarse_labels.");
  describe_batches(s);
}
nexuml::DataDeclaration CIFAR100Dataset::declare() const {
  return batch_declaration(cifar100_format());
}
std::shared_ptr<nexuml::Dataset> CIFAR100Dataset::build(const nexuml::DataContext& context) const {
  return open_batches(cifar100_format(), *this, context);
}

}  // namespace nexuml_library
