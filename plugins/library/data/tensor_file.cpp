#include "data/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/batch_rows.h>
#include <nexuml/data.h>
#include <nexuml/tensor_io.h>
#include <nexuml/tensor_rows.h>

#include <system_error>

namespace nexuml_library {

namespace {

constexpr const char* npy_name = "array";  // an NPY file has one tensor and no name for it

nexuml::TensorMap read_tensors(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".safetensors") return nexuml::read_safetensors(path.string(), {.mapped = true}).tensors;
  if (ending == ".npy") return {{npy_name, nexuml::read_npy(path.string(), {.mapped = true})}};
  if (ending == ".npz") return nexuml::read_npz(path.string());
  throw nexuml::Error("E831",
                      fmt::format("a tensor file ends in .safetensors, .npy or .npz, found '{}'", ending),
                      nexuml::Where::in_file(path.string()));
}

// Features as float32, multiplied, when a batch is gathered.
class ScaledDataset final : public nexuml::Dataset {
 public:
  ScaledDataset(std::shared_ptr<nexuml::TensorDataset> inner, double scale)
      : inner_(std::move(inner)), scale_(scale) {}

  std::int64_t size() const override { return inner_->size(); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    nexuml::Batch batch = inner_->gather(indices);
    for (const std::string& key : batch.x.keys()) batch.x.set(key, batch.x.get(key).to(at::kFloat) * scale_);
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    nexuml::OrderedMap<nexuml::TensorSpec> specs = inner_->features();
    for (auto& [key, spec] : specs) spec.dtype = nexuml::DType::float32;
    return specs;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override { return inner_->labels(); }
  nexuml::OrderedMap<std::int64_t> num_classes() const override { return inner_->num_classes(); }
  std::vector<std::string> splits() const override { return inner_->splits(); }
  std::vector<std::filesystem::path> files() const override { return inner_->files(); }

 private:
  std::shared_ptr<nexuml::TensorDataset> inner_;
  double scale_;
};

// Files above this size are not mapped: their rows are read batch by batch.
constexpr std::uintmax_t largest_mapped_file = std::uintmax_t{256} << 20;

bool is_large(const std::filesystem::path& path) {
  std::error_code failure;
  const std::string ending = path.extension().string();
  return (ending == ".npy" || ending == ".safetensors") &&
         std::filesystem::file_size(path, failure) > largest_mapped_file && !failure;
}

// Features that stay in their file.
class StreamedDataset final : public nexuml::Dataset {
 public:
  StreamedDataset(nexuml::OrderedMap<nexuml::TensorRows> features, std::optional<nexuml::TensorDict> labels,
                  nexuml::TensorDatasetInfo info, std::optional<double> scale)
      : features_(std::move(features)), labels_(std::move(labels)), info_(std::move(info)), scale_(scale) {
    size_ = features_.begin()->second.shape()[0];
    const auto agree = [&](const std::string& key, std::int64_t count) {
      if (count != size_)
        throw nexuml::Error("E830", fmt::format("key '{}' has {} samples and key '{}' has {}",
                                                features_.begin()->first, size_, key, count));
    };
    for (const auto& [key, rows] : features_) agree(key, rows.shape()[0]);
    if (labels_)
      for (const auto& [key, tensor] : *labels_) agree(key, tensor.size(0));
  }

  std::int64_t size() const override { return size_; }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    nexuml::Batch batch;
    for (const auto& [key, rows] : features_) {
      const at::Tensor values = rows.gather(indices);
      batch.x.set(key, scale_ ? values.to(at::kFloat) * *scale_ : values);
    }
    if (!labels_) return batch;
    batch.y.emplace();
    for (const auto& [key, tensor] : *labels_) batch.y->set(key, nexuml::gather_rows(tensor, indices));
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    nexuml::OrderedMap<nexuml::TensorSpec> specs;
    for (const auto& [key, rows] : features_)
      specs[key] = {nexuml::Shape(rows.shape().begin() + 1, rows.shape().end()),
                    scale_ ? nexuml::DType::float32 : nexuml::dtype_of(rows.dtype())};
    return specs;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override {
    nexuml::OrderedMap<nexuml::TensorSpec> specs;
    if (labels_)
      for (const auto& [key, tensor] : *labels_)
        specs[key] = {tensor.sizes().slice(1).vec(), nexuml::dtype_of(tensor.scalar_type())};
    return specs;
  }
  nexuml::OrderedMap<std::int64_t> num_classes() const override { return info_.num_classes; }
  std::vector<std::string> splits() const override { return info_.splits; }
  std::vector<std::filesystem::path> files() const override { return info_.files; }

 private:
  const nexuml::OrderedMap<nexuml::TensorRows> features_;
  const std::optional<nexuml::TensorDict> labels_;
  const nexuml::TensorDatasetInfo info_;
  const std::optional<double> scale_;
  std::int64_t size_ = 0;
};

// By tensor name, those of a file that lie row by row; empty where one does not.
std::vector<std::pair<std::string, nexuml::TensorRows>> rows_of(const std::filesystem::path& path) {
  std::vector<std::pair<std::string, nexuml::TensorRows>> all;
  if (path.extension() == ".npy") {
    if (auto rows = nexuml::TensorRows::of_npy(path.string())) all.emplace_back(npy_name, *std::move(rows));
    return all;
  }
  for (const nexuml::TensorInfo& tensor : nexuml::inspect_safetensors(path.string()).tensors)
    if (auto rows = nexuml::TensorRows::of_safetensors(path.string(), tensor.name))
      all.emplace_back(tensor.name, *std::move(rows));
  return all;
}

// The tensors that `names` maps to keys; without names the only tensor, under `default_key`.
nexuml::TensorDict choose(const nexuml::TensorMap& tensors, const nexuml::OrderedMap<std::string>& names,
                          const std::string& default_key, const std::string& field,
                          const std::filesystem::path& path) {
  nexuml::TensorDict chosen;
  for (const auto& [key, name] : names) {
    const at::Tensor* tensor = tensors.find(name);
    if (!tensor)
      throw nexuml::Error("E831",
                          fmt::format("`{}` names the tensor '{}', which the file does not have; it has {}",
                                      field, name, fmt::join(tensors.names(), ", ")),
                          nexuml::Where::in_file(path.string()), nexuml::did_you_mean(name, tensors.names()));
    chosen.set(key, *tensor);
  }
  if (!names.empty()) return chosen;
  const at::Tensor* tensor = tensors.size() == 1 ? &tensors.begin()->second : tensors.find(default_key);
  if (!tensor)
    throw nexuml::Error(
        "E831", fmt::format("the file has {} tensors: {}", tensors.size(), fmt::join(tensors.names(), ", ")),
        nexuml::Where::in_file(path.string()), fmt::format("say in `{}` which is meant", field));
  chosen.set(default_key, *tensor);
  return chosen;
}

// Features that training can take: refuses complex ones, and warns of numbers that are not finite.
void check_features(const nexuml::TensorDict& features, const std::filesystem::path& file,
                    nexuml::Diagnostics* advice) {
  for (const auto& [key, tensor] : features) {
    if (tensor.is_complex())
      throw nexuml::Error("E831", fmt::format("the tensor of '{}' holds complex numbers", key),
                          nexuml::Where::in_file(file.string()),
                          "save the real and the imaginary part as two tensors");
    if (!advice || !tensor.is_floating_point() || tensor.dim() == 0 || tensor.numel() == 0) continue;
    const at::Tensor finite = tensor.isfinite().reshape({tensor.size(0), -1}).all(1);
    const std::int64_t rows = tensor.size(0) - finite.sum().item<std::int64_t>();
    if (rows > 0)
      advice
          ->warning("W831",
                    fmt::format("the tensor of '{}' holds numbers that are not finite, in {} of {} rows; the "
                                "first is row {}",
                                key, rows, tensor.size(0), finite.to(at::kInt).argmin().item<std::int64_t>()),
                    nexuml::Where::in_file(file.string()))
          .hint = "a loss of such rows is no number: mend or leave them out";
  }
}

// Whole numbers of one a sample are classes.
void count_classes(const nexuml::TensorDict& labels, nexuml::TensorDatasetInfo& info) {
  for (const auto& [key, tensor] : labels) {
    const bool classes = tensor.dim() == 1 && !tensor.is_floating_point() && tensor.numel() > 0 &&
                         tensor.scalar_type() != at::kBool && tensor.min().item<std::int64_t>() >= 0;
    if (classes) info.num_classes[key] = tensor.max().item<std::int64_t>() + 1;
  }
}

}  // namespace

void TensorFileSource::describe(nexuml::Schema<TensorFileSource>& s) {
  s.summary(
      "Tensors of a safetensors, NPY or NPZ file; the first dimension is the samples. Safetensors and NPY "
      "files are mapped; rows of files above 256 MiB are read batch by batch.");
  s.field("path", &TensorFileSource::path).doc("The file; relative to the data root.").required();
  s.field("label_path", &TensorFileSource::label_path).doc("A second file for the labels; null: the same.");
  s.field("features", &TensorFileSource::features)
      .doc(
          "Key -> name of a tensor; empty: the only tensor, or the one of data.feature_key. The tensor of an "
          "NPY "
          "file is named `array`.");
  s.field("labels", &TensorFileSource::labels).doc("Key -> name of a tensor; whole numbers are classes.");
  s.field("scale", &TensorFileSource::scale)
      .doc(
          "Makes features float32 and multiplies them, as 0.00392156862745098 for bytes; null: as they are.");
  s.field("split", &TensorFileSource::split).doc("Split of every sample.");
}

// Null where the features do not lie row by row; what is missing is left to the messages of the other way.
std::shared_ptr<nexuml::Dataset> TensorFileSource::build_streamed(const std::filesystem::path& file,
                                                                  const nexuml::DataContext& context) const {
  const auto all = rows_of(file);
  const auto find = [&](const std::string& name) -> const nexuml::TensorRows* {
    for (const auto& [own, rows] : all)
      if (own == name) return &rows;
    return nullptr;
  };
  nexuml::OrderedMap<std::string> wanted = features;
  if (wanted.empty()) wanted[context.feature_key] = all.size() == 1 ? all.front().first : context.feature_key;
  nexuml::OrderedMap<nexuml::TensorRows> x;
  for (const auto& [key, name] : wanted) {
    const nexuml::TensorRows* rows = find(name);
    if (!rows) return nullptr;
    x.append(key, *rows);
  }
  std::optional<nexuml::TensorDict> y;
  nexuml::TensorDatasetInfo info;
  info.files = {file};
  if (label_path) {
    const std::filesystem::path label_file = context.resolve(*label_path);
    y = choose(read_tensors(label_file), labels, "label", "labels", label_file);
    info.files.push_back(label_file);
  } else if (!labels.empty()) {
    y.emplace();
    for (const auto& [key, name] : labels) {
      const nexuml::TensorRows* rows = find(name);
      if (!rows) return nullptr;
      y->set(key, rows->all());
    }
  }
  if (y) count_classes(*y, info);
  if (split) info.splits.assign(static_cast<std::size_t>(x.begin()->second.shape()[0]), *split);
  return std::make_shared<StreamedDataset>(std::move(x), std::move(y), std::move(info), scale);
}

std::shared_ptr<nexuml::Dataset> TensorFileSource::build(const nexuml::DataContext& context) const {
  const std::filesystem::path file = context.resolve(path);
  if (is_large(file))
    if (auto streamed = build_streamed(file, context)) return streamed;
  const nexuml::TensorMap tensors = read_tensors(file);
  nexuml::TensorDict x = choose(tensors, features, context.feature_key, "features", file);
  check_features(x, file, context.advice);
  std::optional<nexuml::TensorDict> y;
  if (label_path) {
    const std::filesystem::path label_file = context.resolve(*label_path);
    y = choose(read_tensors(label_file), labels, "label", "labels", label_file);
  } else if (!labels.empty()) {
    y = choose(tensors, labels, "label", "labels", file);
  }
  nexuml::TensorDatasetInfo info;
  if (y) count_classes(*y, info);
  if (split) info.splits.assign(static_cast<std::size_t>(x.batch_size()), *split);
  info.files = {file};
  if (label_path) info.files.push_back(context.resolve(*label_path));
  auto dataset = std::make_shared<nexuml::TensorDataset>(std::move(x), std::move(y), std::move(info));
  if (scale) return std::make_shared<ScaledDataset>(std::move(dataset), *scale);
  return dataset;
}

}  // namespace nexuml_library
