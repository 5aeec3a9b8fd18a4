#include "data/export_run.h"

#include <fmt/format.h>

#include <system_error>

#include "data/guard.h"
#include "data/stored_rows.h"
#include "data/table_text.h"

namespace nexuml {

namespace {

namespace fs = std::filesystem;

// A folder in the making: removed unless it takes the place of its target.
class StagedFolder {
 public:
  explicit StagedFolder(fs::path target) : target_(std::move(target)), staged_(target_) {
    staged_ += ".partial";
    fs::remove_all(staged_);
    fs::create_directories(staged_);
  }
  ~StagedFolder() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(staged_, ignored);
  }
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const fs::path& path() const noexcept { return staged_; }
  void commit() {
    fs::remove_all(target_);
    fs::rename(staged_, target_);
    committed_ = true;
  }

 private:
  const fs::path target_;
  fs::path staged_;
  bool committed_ = false;
};

void require_keys(const std::optional<Keys>& wanted, const TensorDict* present, const char* what) {
  if (!wanted) return;
  const std::vector<std::string> keys = present ? present->keys() : std::vector<std::string>{};
  for (const std::string& key : *wanted)
    if (!present || !present->contains(key))
      throw Error("E838",
                  fmt::format("the {} '{}' is to be written, and the data has {}", what, key,
                              keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "))),
                  {}, did_you_mean(key, keys));
}

// What is written of a batch, by stored key.
TensorDict stored_part(const Batch& batch, const ExportRun& run) {
  require_keys(run.x_keys, &batch.x, "feature");
  TensorDict stored;
  const std::vector<std::string> features = run.x_keys ? *run.x_keys : batch.x.keys();
  for (const std::string& key : features)
    if (run.x_keys || key != "sample_index") stored.set(key, batch.x.get(key).detach().cpu());
  if (run.include_labels) {
    require_keys(run.y_keys, batch.y ? &*batch.y : nullptr, "label");
    if (batch.y)
      for (const std::string& key : run.y_keys ? *run.y_keys : batch.y->keys())
        stored.set(run.label_prefix + key, batch.y->get(key).detach().cpu());
  }
  if (stored.empty()) throw Error("E838", "nothing is to be written: no feature and no label");
  for (const auto& [key, tensor] : stored)
    if (tensor.dim() == 0 || tensor.size(0) != batch.batch_size())
      throw Error("E838", fmt::format("'{}' has no row for each of the {} samples of a batch", key,
                                      batch.batch_size()));
  return stored;
}

class MetadataTable {
 public:
  explicit MetadataTable(const Dataset& dataset) : columns_(dataset.metadata()) {
    std::vector<std::string> header{"split", "export_index"};
    for (const auto& [name, column] : columns_) header.push_back(name);
    text_ = table_line(header);
  }
  void add(const std::string& split, std::int64_t index, std::int64_t row) {
    std::vector<std::string> cells{split, fmt::format("{}", index)};
    for (const auto& [name, column] : columns_) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&column))
        cells.push_back(texts->at(static_cast<std::size_t>(row)));
      else
        cells.push_back(fmt::format("{}", std::get<at::Tensor>(column)[row].item<double>()));
    }
    text_ += table_line(cells);
  }
  Value kinds() const {
    Value kinds = Value::map();
    for (const auto& [name, column] : columns_)
      kinds.set(name, std::holds_alternative<at::Tensor>(column) ? "number" : "text");
    return kinds;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  const OrderedMap<MetadataColumn> columns_;
  std::string text_;
};

OrderedMap<TensorSpec> stored_specs(const TensorDict& stored) {
  OrderedMap<TensorSpec> specs;
  for (const auto& [key, tensor] : stored)
    specs[key] = {tensor.sizes().slice(1).vec(), dtype_of(tensor.scalar_type())};
  return specs;
}

}  // namespace

void export_data(const DataModule& data, const ExportRun& run) {
  const Dataset& dataset = data.dataset();
  ExportConfig config{.label_prefix = run.label_prefix, .extra = run.extra};
  for (const Split split : run.splits)
    config.num_samples += static_cast<std::int64_t>(data.rows(split).size());
  if (config.num_samples == 0) throw Error("E838", "there are no samples to write");
  fs::create_directories(fs::absolute(run.folder).parent_path());
  StagedFolder staged(run.folder);
  MetadataTable table(dataset);
  std::shared_ptr<DatasetWriter> writer;
  std::int64_t index = 0;
  for (const Split split : run.splits) {
    if (data.rows(split).empty()) continue;
    const std::string name(to_string(split));
    const std::unique_ptr<DataLoader> loader = data.make_ordered_loader(split);
    std::size_t row = 0;
    loader->start_epoch(0);
    for (std::optional<Batch> batch = loader->next(); batch; batch = loader->next()) {
      if (run.stop.stop_requested()) throw Error("E838", "writing the data was stopped");
      if (run.transform) run.transform(*batch);
      const TensorDict stored = stored_part(*batch, run);
      if (!writer) {
        config.tensors = stored_specs(stored);
        writer = run.writer({.folder = staged.path(),
                             .tensors = config.tensors,
                             .num_samples = config.num_samples,
                             .stop = run.stop});
      }
      if (stored_specs(stored) != config.tensors)
        throw Error("E838", "batches of the data have different keys, shapes or dtypes");
      writer->write(stored, name, index);
      for (std::int64_t i = 0; i < stored.batch_size(); ++i)
        table.add(name, index + i, data.rows(split)[row++]);
      index += stored.batch_size();
    }
  }
  writer->finish();
  config.writer = writer->format();
  for (const auto& [key, spec] : config.tensors)
    (key.starts_with(run.label_prefix) ? config.y_keys : config.x_keys)
        .push_back(key.starts_with(run.label_prefix) ? key.substr(run.label_prefix.size()) : key);
  config.num_classes = dataset.num_classes();
  config.class_names = dataset.class_names();
  config.extra.set("metadata_kinds", table.kinds());
  write_file(staged.path() / "metadata.csv", table.text());
  write_file(staged.path() / "config.yaml", write_yaml(write_export_config(config)));
  staged.commit();
}

}  // namespace nexuml
