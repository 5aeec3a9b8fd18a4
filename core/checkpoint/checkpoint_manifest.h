// The manifest of a checkpoint folder: which files belong to it, their lengths and digests, which names of
// the model share one tensor, and what the checkpoint is about.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/value.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nexuml {

inline constexpr const char* manifest_file_name = "manifest.json";

struct ManifestFile {
  std::string name;  // inside the folder, without a path
  std::uint64_t size = 0;
  std::string sha256;
};

struct CheckpointManifest {
  std::vector<ManifestFile> files;  // by name
  // Tied weights: the first name of each group is stored, the others are the same tensor.
  std::vector<std::vector<std::string>> aliases;
  Value about = Value::map();  // scenario, epoch, step, seed, libraries

  const ManifestFile* find(std::string_view name) const;
};

// The bytes of the file. They end with a digest of the rest, so that the manifest vouches for itself.
NEXUML_EXPORT std::string format_manifest(const CheckpointManifest& manifest);
// Throws Error E763.
NEXUML_EXPORT CheckpointManifest read_manifest(const std::filesystem::path& folder);

// A JSON object whose bytes are exactly those that this version writes. Throws Error E763.
NEXUML_EXPORT Value read_written_json(const std::filesystem::path& file);
NEXUML_EXPORT std::string format_written_json(const Value& value);

// The refusal of everything that reads a checkpoint: Error E763.
[[noreturn]] NEXUML_EXPORT void refuse_checkpoint(const std::filesystem::path& file,
                                                  const std::string& reason);

}  // namespace nexuml
