// CheckpointStore: the checkpoints of one run, one self-contained folder an index.
//
//     CheckpointStore store(run_folder / "checkpoints");
//     std::int64_t index = store.save(checkpoint);              // <folder>/<index>/, whole or not at all
//     Checkpoint latest = store.load(*store.latest());          // every file verified before anything is
//     returned
//
// A folder holds `model.safetensors`, `trainer.safetensors`, `trainer.json` and `manifest.json` (length and
// SHA-256 of each file). It is written beside its place, synced, and committed by one rename; an index is
// never overwritten.
#pragma once

#include <nexuml/export.h>
#include <nexuml/tensor_io.h>
#include <nexuml/value.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

struct Checkpoint {
  TensorMap model;                     // the state dict
  TensorMap trainer;                   // moments, random streams
  Value trainer_state = Value::map();  // counters, learning rates
  Value about = Value::map();          // scenario, epoch, step, libraries: kept in the manifest
};

class NEXUML_EXPORT CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Committed ones, ascending.
  std::vector<std::int64_t> indices() const;
  std::optional<std::int64_t> latest() const;
  std::filesystem::path path_of(std::int64_t index) const { return folder_ / std::to_string(index); }

  // Takes the next free index. Throws Error E762 when it cannot be written; earlier indices stay as they are.
  std::int64_t save(const Checkpoint& checkpoint) const;
  // Under this index. Throws Error E762 also when it is taken.
  void save_as(std::int64_t index, const Checkpoint& checkpoint) const;
  // Throws Error E763 naming the file that is missing, cut off or changed, and why.
  Checkpoint load(std::int64_t index) const;
  void remove(std::int64_t index) const;

 private:
  std::filesystem::path folder_;
};

// Reads one checkpoint folder, wherever it lies.
NEXUML_EXPORT Checkpoint load_checkpoint(const std::filesystem::path& folder);

}  // namespace nexuml
