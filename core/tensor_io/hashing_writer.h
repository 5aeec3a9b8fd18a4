// A file that appears whole or not at all, hashed while it is written.
//
//     HashingWriter file("model.safetensors");
//     file.write(bytes);
//     WrittenFile written = file.commit();   // synced, renamed, its folder synced
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

#include "tensor_io/sha256.h"

namespace nexuml::tensor_io {

class NEXUML_EXPORT HashingWriter {
 public:
  // Creates a hidden file beside `path`; throws E755.
  explicit HashingWriter(std::string path);
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

  WrittenFile commit();

 private:
  [[noreturn]] void fail(const char* action, int error) const;
  void write_to_file(std::span<const std::byte> bytes);

  std::string path_;
  std::string staged_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  HashingThread hash_;
};

// A text as a file, in one step. Throws E755.
NEXUML_EXPORT WrittenFile write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace nexuml::tensor_io
