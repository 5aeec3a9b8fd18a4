#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "discovery/file_bytes.h"

namespace nexuml {

FileBytes::FileBytes(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    problem_ =
        errno == ENOENT ? "there is no such file" : std::string("cannot be opened: ") + std::strerror(errno);
    return;
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    problem_ = std::string("cannot be examined: ") + std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem_ = "is a directory";
  } else if (!S_ISREG(status.st_mode)) {
    problem_ = "is no regular file";
  } else {
    size_ = static_cast<std::uint64_t>(status.st_size);
    identity_ = {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
  }
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t count = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

std::optional<FileIdentity> file_identity(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace nexuml
