// What the `checkpoint` commands look at: a checkpoint folder, the checkpoints of a run, or a weights file.
#pragma once

#include <nexuml/pickled_value.h>
#include <nexuml/tensor_io.h>
#include <nexuml/value.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_manifest.h"

namespace nexuml {

struct StoredPlace {
  enum class Kind { checkpoint, run, file };

  Kind kind = Kind::file;
  std::filesystem::path path;         // of the checkpoint or file; the folder of checkpoints of a run
  std::string key;                    // behind `#`: a dict inside the file
  std::vector<std::int64_t> indices;  // of a run, ascending, not empty

  std::filesystem::path checkpoint(std::int64_t index) const { return path / std::to_string(index); }
};

// Throws Error E750 for what is not there, E764 for a folder without a checkpoint.
StoredPlace find_stored(const std::string& text);

// Named tensors as a header tells them, without their bytes where the format allows that.
struct StoredTensors {
  std::vector<TensorInfo> tensors;  // in the order of the file
  std::vector<std::vector<std::string>> aliases;
  Value values =
      Value::map();  // what else the file holds, by its path inside: "epoch", "hyper_parameters/lr"
};

StoredTensors look_into(const std::string& file, const std::string& key);

// Tensors by name, and everything else as one tree: what two places are compared by. Verified.
struct StoredContent {
  TensorMap tensors;
  Value values = Value::map();
};

StoredContent read_stored(const StoredPlace& place);

}  // namespace nexuml
