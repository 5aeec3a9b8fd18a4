// The manifest of a checkpoint folder: which files belong to it, their lengths and digests, which names of
// the model share one tensor, and what the checkpoint is about.
//
// Format 1 has one SHA-256 of each file, "sha256": "...". Format 2 also files with "chunk": 8388608,
// "sha256":
// ["...", ...]: one digest for every so many bytes, so that all cores compute them. Both are read; what needs
// no chunks is written as format 1, which earlier versions read.
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

// Files up to this length have one digest, longer ones one for every so many bytes.
inline constexpr std::uint64_t digest_chunk = 8u << 20;

struct ManifestFile {
  std::string name;  // inside the folder, without a path
  std::uint64_t size = 0;
  std::uint64_t chunk = 0;          // bytes of each digest; 0: one digest of the whole file
  std::vector<std::string> sha256;  // in hex, not empty
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
