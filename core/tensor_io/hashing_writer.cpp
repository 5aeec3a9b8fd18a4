#include "tensor_io/hashing_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

namespace {

// Below this, handing bytes to another thread takes longer than hashing them.
constexpr std::size_t kInline = 64u << 10;
constexpr std::size_t kWriteChunk = 8u << 20;
constexpr std::size_t kMaxPending = 512u << 20;

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A hidden name that no other writer of this machine uses at the same time.
std::string staged_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path target(path);
  return fmt::format("{}/.{}.{}-{}.tmp", folder_of(path), target.filename().string(), ::getpid(), counter++);
}

}  // namespace

HashingWriter::HashingWriter(std::string path, std::uint64_t chunk) : path_(std::move(path)), hash_(chunk) {
  do {  // a name may be left over from a process that was killed
    staged_ = staged_name(path_);
    descriptor_ = ::open(staged_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail("create", errno);
}

HashingWriter::~HashingWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(staged_.c_str());
}

void HashingWriter::fail(const char* action, int error) const {
  refuse("E755", fmt::format("cannot {} {}: {}", action, path_, std::generic_category().message(error)),
         path_, error == ENOSPC || error == EDQUOT ? "free some space; nothing was left behind" : "");
}

void HashingWriter::write(std::span<const std::byte> bytes) {
  if (bytes.size() < kInline) {
    hash_.update(bytes);
    return write_to_file(bytes);
  }
  write(bytes, nullptr);
  hash_.wait();
}

void HashingWriter::write(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  // Copies of tensors from a device or with strides live until they are hashed: their number is bounded here.
  hash_.wait(kMaxPending);
  hash_.push(bytes, std::move(owner));
  try {
    write_to_file(bytes);
  } catch (...) {
    hash_.wait();
    throw;
  }
}

void HashingWriter::write_to_file(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kWriteChunk));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    // The disk starts now, so that little is left for fsync.
    if (bytes.size() >= kInline) {
      ::sync_file_range(descriptor_, static_cast<off_t>(size_), written, SYNC_FILE_RANGE_WRITE);
    }
    size_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

HashedFile HashingWriter::commit() {
  if (::fsync(descriptor_) != 0) fail("sync", errno);
  std::vector<std::string> digests = hash_.finish();
  if (::rename(staged_.c_str(), path_.c_str()) != 0) fail("create", errno);
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("close", errno);
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || ::fsync(folder) != 0) {
    const int error = errno;
    if (folder >= 0) ::close(folder);
    fail("sync the folder of", error);
  }
  ::close(folder);
  return {size_, std::move(digests)};
}

WrittenFile write_text_file(const std::filesystem::path& path, std::string_view text) {
  HashingWriter file(path.string());
  file.write(text);
  return file.commit().whole();
}

}  // namespace nexuml::tensor_io
