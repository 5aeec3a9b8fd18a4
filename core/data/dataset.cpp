#include <fmt/format.h>
#include <nexuml/batch_rows.h>
#include <nexuml/data.h>

namespace nexuml {

namespace {

std::int64_t common_size(const TensorDict& x, const std::optional<TensorDict>& y) {
  std::optional<std::int64_t> size;
  std::string first_key;
  const auto visit = [&](const TensorDict& tensors) {
    for (const auto& [key, tensor] : tensors) {
      if (tensor.dim() == 0)
        throw Error("E830", fmt::format("the tensor of key '{}' has no dimension for the samples", key), {},
                    "stack the samples along the first dimension");
      if (!size) {
        size = tensor.size(0);
        first_key = key;
      }
      if (tensor.size(0) != *size)
        throw Error("E830", fmt::format("key '{}' has {} samples and key '{}' has {}", first_key, *size, key,
                                        tensor.size(0)));
    }
  };
  visit(x);
  if (y) visit(*y);
  if (!size) throw Error("E830", "a dataset needs at least one tensor, found none");
  return *size;
}

OrderedMap<TensorSpec> sample_specs(const TensorDict& tensors) {
  OrderedMap<TensorSpec> specs;
  for (const auto& [key, tensor] : tensors)
    specs.append(key,
                 {Shape(tensor.sizes().begin() + 1, tensor.sizes().end()), dtype_of(tensor.scalar_type())});
  return specs;
}

TensorDict select_rows(const TensorDict& tensors, std::span<const std::int64_t> rows) {
  TensorDict selected;
  for (const auto& [key, tensor] : tensors) selected.set(key, gather_rows(tensor, rows));
  return selected;
}

}  // namespace

Dataset::~Dataset() = default;
OrderedMap<TensorSpec> Dataset::labels() const {
  return {};
}
OrderedMap<std::int64_t> Dataset::num_classes() const {
  return {};
}
OrderedMap<std::vector<std::string>> Dataset::class_names() const {
  return {};
}
std::vector<std::string> Dataset::splits() const {
  return {};
}
OrderedMap<MetadataColumn> Dataset::metadata() const {
  return {};
}
std::vector<std::filesystem::path> Dataset::files() const {
  return {};
}

DataLoader::~DataLoader() = default;
LoaderBackend::~LoaderBackend() = default;
DatasetWriter::~DatasetWriter() = default;

TensorDataset::TensorDataset(TensorDict x, std::optional<TensorDict> y, TensorDatasetInfo info)
    : x_(std::move(x)), y_(std::move(y)), info_(std::move(info)), size_(common_size(x_, y_)) {
  if (!info_.splits.empty() && static_cast<std::int64_t>(info_.splits.size()) != size_)
    throw Error("E830", fmt::format("{} samples but {} split names", size_, info_.splits.size()));
}

Batch TensorDataset::gather(std::span<const std::int64_t> indices) const {
  Batch batch;
  batch.x = select_rows(x_, indices);
  if (y_) batch.y = select_rows(*y_, indices);
  return batch;
}

OrderedMap<TensorSpec> TensorDataset::features() const {
  return sample_specs(x_);
}
OrderedMap<TensorSpec> TensorDataset::labels() const {
  return y_ ? sample_specs(*y_) : OrderedMap<TensorSpec>{};
}

}  // namespace nexuml
