// A file that appears whole or not at all, hashed while it is written.
//
//     HashingWriter file("model.safetensors");
//     file.write(bytes);
//     HashedFile written = file.commit();   // synced, renamed, its folder synced
//
// Without `commit` the destructor removes what was written.
#pragma once

#include <nexuml/export.h>
#include <nexuml/tensor_io.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor_io/sha256.h"

namespace nexuml::tensor_io {

// What was written, with the digest of the file or of each of its chunks.
struct HashedFile {
  std::uint64_t size = 0;
  std::vector<std::string> sha256;

  WrittenFile whole() const { return {size, sha256.front()}; }
};

class NEXUML_EXPORT HashingWriter {
 public:
  // Creates a hidden file beside `path`; throws E755. `chunk`: a digest for every so many bytes, computed on
  // all cores; 0: one of the whole file.
  explicit HashingWriter(std::string path, std::uint64_t chunk = 0);
  ~HashingWriter();
  HashingWriter(const HashingWriter&) = delete;
  HashingWriter& operator=(const HashingWriter&) = delete;

  // Returns when the bytes are written and hashed. Throws E755, also for a full disk.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Returns when they are written; they are hashed beside what follows, until `commit`. `owner` keeps them
  // alive, its bytes must not change before.
  void write(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  std::uint64_t size() const noexcept { return size_; }

  HashedFile commit();

 private:
  [[noreturn]] void fail(const char* action, int error) const;
  void write_to_file(std::span<const std::byte> bytes);

  std::string path_;
  std::string staged_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  StreamDigests hash_;
};

// The bytes of write_safetensors with a digest for every `chunk` bytes. Throws E755.
NEXUML_EXPORT HashedFile write_safetensors_in_chunks(const std::string& path, const TensorMap& tensors,
                                                     const TensorMetadata& metadata, std::uint64_t chunk);
struct HashedTensors {
  TensorFile file;  // without a digest of the whole
  std::vector<std::string> sha256;
};
// read_safetensors with a digest for every `chunk` bytes, of exactly the bytes that were loaded.
NEXUML_EXPORT HashedTensors read_safetensors_in_chunks(const std::string& path, std::uint64_t chunk);

// A text as a file, in one step. Throws E755.
NEXUML_EXPORT WrittenFile write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace nexuml::tensor_io
