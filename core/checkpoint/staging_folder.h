// StagingFolder: a folder that is written beside its place and then renamed into it.
//
//     StagingFolder staging(parent);
//     ... write into staging.path() ...
//     staging.commit(parent / "3");   // false when the place is taken
//
// Without `commit` the destructor removes it, and the parent where that was made for it.
#pragma once

#include <filesystem>
#include <string>

namespace nexuml {

class StagingFolder {
 public:
  // Throws Error E762.
  explicit StagingFolder(const std::filesystem::path& parent);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  bool commit(const std::filesystem::path& place);

  // Removes what processes of this machine left here that no longer run.
  static void sweep(const std::filesystem::path& parent);
  // Takes a committed folder away: renamed first, so that a reader sees all of it or none.
  static void discard(const std::filesystem::path& folder);

 private:
  std::filesystem::path parent_;
  std::filesystem::path path_;
  bool made_parent_ = false;
  bool committed_ = false;
};

// Throws Error E762.
void sync_folder(const std::filesystem::path& folder);

// The refusal of everything that writes a checkpoint: Error E762.
[[noreturn]] void fail_to_save(const std::filesystem::path& path, const std::string& reason);

}  // namespace nexuml
