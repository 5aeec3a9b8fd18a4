#include "data/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/data.h>
#include <nexuml/tensor_io.h>

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

 private:
  std::shared_ptr<nexuml::TensorDataset> inner_;
  double scale_;
};

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
      "files are "
      "mapped, not loaded.");
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

std::shared_ptr<nexuml::Dataset> TensorFileSource::build(const nexuml::DataContext& context) const {
  const std::filesystem::path file = context.resolve(path);
  const nexuml::TensorMap tensors = read_tensors(file);
  nexuml::TensorDict x = choose(tensors, features, context.feature_key, "features", file);
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
  auto dataset = std::make_shared<nexuml::TensorDataset>(std::move(x), std::move(y), std::move(info));
  if (scale) return std::make_shared<ScaledDataset>(std::move(dataset), *scale);
  return dataset;
}

}  // namespace nexuml_library
