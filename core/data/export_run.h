// Writing the splits of a data module to disk, whole or not at all.
//
//     export_data(data, {.folder = "prepared", .writer = make, .transform = forward_until_spectrogram});
//
// The folder holds config.yaml, metadata.csv (split, export_index and the metadata of each row) and data/.
#pragma once

#include <nexuml/data.h>
#include <nexuml/scenario.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/data_module.h"

namespace nexuml {

struct ExportRun {
  std::filesystem::path folder;
  std::function<std::shared_ptr<DatasetWriter>(const WriterBuildContext&)> writer;
  std::vector<Split> splits{Split::train, Split::val, Split::test};
  std::optional<Keys> x_keys;  // null: all features but sample_index
  std::optional<Keys> y_keys;  // null: all labels
  bool include_labels = true;
  std::string label_prefix = "label__";
  std::function<void(Batch&)> transform;  // may be empty; in eval mode, without gradients
  Value extra = Value::map();             // goes to config.yaml
  std::stop_token stop;
};

// Replaces what lies in the folder once everything is written. Throws Error E838.
NEXUML_EXPORT void export_data(const DataModule& data, const ExportRun& run);

}  // namespace nexuml
