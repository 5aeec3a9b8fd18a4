#include "data/exported_dataset.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/exported_data.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "data/table_text.h"

namespace nexuml {

namespace {

std::shared_ptr<const StoredRows> open_rows(const std::filesystem::path& folder, const ExportConfig& config) {
  if (config.writer == "tensor_shards") return open_tensor_shards(folder);
  if (config.writer == "numpy") return open_numpy_files(folder, config);
  if (config.writer == "numpy_mmap") return open_numpy_mmap(folder, config);
  refuse_export(folder / "config.yaml",
                fmt::format("data written by '{}' is not read; tensor_shards, numpy and numpy_mmap are",
                            config.writer));
}

bool is_number_column(const ExportConfig& config, const std::string& name) {
  const Value* kinds = config.extra.find("metadata_kinds");
  const Value* kind = kinds && kinds->is_map() ? kinds->find(name) : nullptr;
  return kind && *kind == Value("number");
}

at::Tensor numbers_of(const std::vector<std::string>& texts) {
  std::vector<double> numbers;
  bool whole = true;
  for (const std::string& text : texts) {
    double number = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(text.data(), text.data() + text.size(), number);
    whole = whole && number == std::floor(number);
    numbers.push_back(number);
  }
  const at::Tensor tensor = at::tensor(numbers, at::kDouble);
  return whole ? tensor.to(at::kLong) : tensor;
}

}  // namespace

ExportedDataset::ExportedDataset(const std::filesystem::path& folder)
    : config_(read_export_config(folder)), rows_(open_rows(folder, config_)) {
  if (rows_->size() != config_.num_samples)
    refuse_export(folder, fmt::format("config.yaml says {} samples, the files hold {}", config_.num_samples,
                                      rows_->size()));
  read_metadata(folder / "metadata.csv");
}

void ExportedDataset::read_metadata(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_export(file, "the table of the samples cannot be read", "write the data again");
  std::stringstream text;
  text << stream.rdbuf();
  const std::vector<std::vector<std::string>> table = table_cells(text.str());
  if (table.empty() || static_cast<std::int64_t>(table.size()) - 1 != size())
    refuse_export(file, fmt::format("the table has {} rows for {} samples",
                                    table.empty() ? 0 : table.size() - 1, size()));
  for (std::size_t column = 0; column < table.front().size(); ++column) {
    std::vector<std::string> cells;
    for (std::size_t row = 1; row < table.size(); ++row) {
      if (table[row].size() != table.front().size()) refuse_export(file, fmt::format("row {} is short", row));
      cells.push_back(table[row][column]);
    }
    const std::string& name = table.front()[column];
    if (name == "split")
      splits_ = std::move(cells);
    else if (name != "export_index" && is_number_column(config_, name))
      metadata_[name] = numbers_of(cells);
    else if (name != "export_index")
      metadata_[name] = std::move(cells);
  }
}

Batch ExportedDataset::batch_of(const TensorDict& stored) const {
  Batch batch;
  for (const auto& [key, tensor] : stored) {
    if (!is_label(key)) {
      batch.x.set(key, tensor);
      continue;
    }
    if (!batch.y) batch.y.emplace();
    batch.y->set(label_name(key), tensor);
  }
  return batch;
}

OrderedMap<TensorSpec> ExportedDataset::features() const {
  OrderedMap<TensorSpec> specs;
  for (const auto& [key, spec] : rows_->tensors())
    if (!is_label(key)) specs[key] = spec;
  return specs;
}

OrderedMap<TensorSpec> ExportedDataset::labels() const {
  OrderedMap<TensorSpec> specs;
  for (const auto& [key, spec] : rows_->tensors())
    if (is_label(key)) specs[label_name(key)] = spec;
  return specs;
}

Splits ExportedDataset::split_rows() const {
  Splits splits;
  for (std::size_t row = 0; row < splits_.size(); ++row) {
    auto& rows = splits_[row] == "train" ? splits.train : splits_[row] == "val" ? splits.val : splits.test;
    rows.push_back(static_cast<std::int64_t>(row));
  }
  return splits;
}

std::shared_ptr<Dataset> open_exported_data(const std::filesystem::path& folder) {
  return std::make_shared<ExportedDataset>(folder);
}

}  // namespace nexuml
