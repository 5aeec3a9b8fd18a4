// The tensors of an exported data set, by stored key, whatever the format of its files.
#pragma once

#include <nexuml/data.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

class StoredRows {
 public:
  virtual ~StoredRows() = default;
  virtual std::int64_t size() const = 0;
  virtual OrderedMap<TensorSpec> tensors() const = 0;  // of one sample
  virtual TensorDict gather(std::span<const std::int64_t> rows) const = 0;
};

// Config of an exported data set, config.yaml.
struct ExportConfig {
  std::string writer;
  std::int64_t num_samples = 0;
  std::string label_prefix = "label__";
  OrderedMap<TensorSpec> tensors;  // by stored key
  std::vector<std::string> x_keys, y_keys;
  OrderedMap<std::int64_t> num_classes;
  OrderedMap<std::vector<std::string>> class_names;
  Value extra = Value::map();
};
Value write_export_config(const ExportConfig& config);
ExportConfig read_export_config(const std::filesystem::path& folder);

// Appears whole or not at all.
void write_file(const std::filesystem::path& path, std::string_view text);

[[noreturn]] void refuse_export(const std::filesystem::path& place, std::string message,
                                std::string hint = {});

std::shared_ptr<const StoredRows> open_tensor_shards(const std::filesystem::path& folder);
std::shared_ptr<const StoredRows> open_numpy_files(const std::filesystem::path& folder,
                                                   const ExportConfig& config);
std::shared_ptr<const StoredRows> open_numpy_mmap(const std::filesystem::path& folder,
                                                  const ExportConfig& config);

}  // namespace nexuml
