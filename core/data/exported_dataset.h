// ExportedDataset: what `export_data` wrote, as a dataset whose rows have the splits that they had.
#pragma once

#include <nexuml/data.h>

#include <filesystem>
#include <memory>

#include "data/split.h"
#include "data/stored_rows.h"

namespace nexuml {

class ExportedDataset final : public Dataset {
 public:
  // Throws Error E838.
  explicit ExportedDataset(const std::filesystem::path& folder);

  std::int64_t size() const override { return rows_->size(); }
  Batch gather(std::span<const std::int64_t> indices) const override {
    return batch_of(rows_->gather(indices));
  }
  OrderedMap<TensorSpec> features() const override;
  OrderedMap<TensorSpec> labels() const override;
  OrderedMap<std::int64_t> num_classes() const override { return config_.num_classes; }
  OrderedMap<std::vector<std::string>> class_names() const override { return config_.class_names; }
  std::vector<std::string> splits() const override { return splits_; }
  OrderedMap<MetadataColumn> metadata() const override { return metadata_; }

  const StoredRows& stored() const noexcept { return *rows_; }
  const ExportConfig& config() const noexcept { return config_; }
  // Stored keys parted into features and labels.
  Batch batch_of(const TensorDict& stored) const;
  Splits split_rows() const;

 private:
  bool is_label(const std::string& key) const { return key.starts_with(config_.label_prefix); }
  std::string label_name(const std::string& key) const { return key.substr(config_.label_prefix.size()); }
  void read_metadata(const std::filesystem::path& file);

  ExportConfig config_;
  std::shared_ptr<const StoredRows> rows_;
  std::vector<std::string> splits_;
  OrderedMap<MetadataColumn> metadata_;
};

}  // namespace nexuml
