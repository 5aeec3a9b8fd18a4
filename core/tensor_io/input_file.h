// Bytes to read from, either a file or memory, and the refusals that every reader shares.
#pragma once

#include <nexuml/diagnostic.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nexuml::tensor_io {

// Throws an error about `file`.
[[noreturn]] void refuse(std::string code, std::string message, const std::string& file,
                         std::string hint = {});

// "1,234 bytes" and "1 byte": numbers that a person compares.
std::string byte_count(std::uint64_t bytes);

// Random access to bytes whose number does not change. [any thread]
class Input {
 public:
  virtual ~Input() = default;
  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return size_; }

  // Fills all of `into`; throws E751 where the bytes end earlier.
  void read(std::uint64_t offset, std::span<std::byte> into) const;
  std::string read_text(std::uint64_t offset, std::size_t length) const;

 protected:
  Input(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual void read_checked(std::uint64_t offset, std::span<std::byte> into) const = 0;

 private:
  void check_range(std::uint64_t offset, std::uint64_t length) const;
  std::string name_;
  std::uint64_t size_;
};

class MemoryInput final : public Input {
 public:
  // The bytes are borrowed.
  MemoryInput(std::string_view bytes, std::string name);

 private:
  void read_checked(std::uint64_t offset, std::span<std::byte> into) const override;
  std::string_view bytes_;
};

// A regular file, read with pread.
class FileInput final : public Input {
 public:
  // Throws E750 for what is missing, unreadable or no regular file.
  static std::unique_ptr<FileInput> open(const std::string& path);
  ~FileInput() override;
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;

  // All bytes as copy-on-write pages; the pointer keeps them mapped. Null for an empty file.
  std::shared_ptr<std::byte> map() const;

 private:
  FileInput(std::string path, std::uint64_t size, int descriptor);
  void read_checked(std::uint64_t offset, std::span<std::byte> into) const override;
  int descriptor_;
};

// What the first bytes look like when they are not what a reader wants: "looks like HTML, not weights", or
// empty.
std::string describe_foreign(const Input& input);

}  // namespace nexuml::tensor_io
