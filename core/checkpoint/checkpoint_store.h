// CheckpointStore: the checkpoints of one run, one self-contained folder an index.
//
//     CheckpointStore store(run_folder / "checkpoints");
//     std::int64_t index = store.save(checkpoint);    // <folder>/<index>/, whole or not at all
//     Checkpoint latest = store.load(*store.latest());  // every file verified before anything is returned
//
// A folder holds `model.safetensors`, `trainer.safetensors`, `trainer.json`, `recipe.json` where there is
// one (with its large tensors in `recipe.safetensors`), and `manifest.json` (length and SHA-256 of each
// file). It is written beside its place, synced, and committed by one rename; an index is never overwritten.
// [any thread]
#pragma once

#include <nexuml/export.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.h"

namespace nexuml {

class NEXUML_EXPORT CheckpointStore {
 public:
  // `first`: the lowest index that a save takes. A run that goes on in another folder counts on, so that no
  // index means two things.
  explicit CheckpointStore(std::filesystem::path folder, std::int64_t first = 0)
      : folder_(std::move(folder)), first_(first) {}

  // Committed ones, ascending.
  std::vector<std::int64_t> indices() const;
  std::optional<std::int64_t> latest() const;
  std::int64_t next() const;
  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::filesystem::path path_of(std::int64_t index) const { return folder_ / std::to_string(index); }

  // Takes the next free index. Throws Error E762 when it cannot be written: earlier indices stay as they are
  // and nothing new is left, not even the folder.
  std::int64_t save(const Checkpoint& checkpoint) const;
  // Under this index. Throws Error E762 also when it is taken.
  void save_as(std::int64_t index, const Checkpoint& checkpoint) const;
  // Throws Error E763 naming the file that is missing, cut off or changed, and why.
  Checkpoint load(std::int64_t index) const;
  void remove(std::int64_t index) const;

 private:
  std::filesystem::path folder_;
  std::int64_t first_;
};

}  // namespace nexuml
