// The bytes of a file for readers that must survive any content: bounded reads at an offset, no mapping (a
// file may shrink while it is read), regular files only (a FIFO would block).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nexuml {

// What facts about binaries are read from; a file, or bytes in memory in tests and fuzzing.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const noexcept = 0;
  // Fills all of `into` from `offset`, or returns false.
  virtual bool read(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // `length` bytes as text, or nothing when they are not all there.
  std::optional<std::string> text(std::uint64_t offset, std::uint64_t length) const;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  bool read(std::uint64_t offset, std::span<std::byte> into) const override;

 private:
  std::string_view bytes_;
};

// Device and inode: whether two paths are one file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

class FileBytes final : public ByteSource {
 public:
  // Check `problem()` first: not empty when the file is missing, no regular file or unreadable.
  explicit FileBytes(const std::string& path);
  ~FileBytes() override;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& problem() const noexcept { return problem_; }
  FileIdentity identity() const noexcept { return identity_; }
  std::uint64_t size() const noexcept override { return size_; }
  bool read(std::uint64_t offset, std::span<std::byte> into) const override;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  FileIdentity identity_;
  std::string problem_;
};

// The identity of what `path` leads to, symbolic links followed; nothing when it leads nowhere.
std::optional<FileIdentity> file_identity(const std::string& path) noexcept;

}  // namespace nexuml
