#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "discovery/file_bytes.h"

namespace nexuml {
namespace {

HANDLE handle_of(int descriptor) {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

std::optional<FileIdentity> identity_of(HANDLE file) {
  BY_HANDLE_FILE_INFORMATION facts{};
  if (!::GetFileInformationByHandle(file, &facts)) return std::nullopt;
  return FileIdentity{facts.dwVolumeSerialNumber,
                      (std::uint64_t{facts.nFileIndexHigh} << 32) | facts.nFileIndexLow};
}

}  // namespace

FileBytes::FileBytes(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (std::filesystem::is_directory(status)) {
    problem_ = "is a directory";
    return;
  }
  descriptor_ = ::_open(path.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (descriptor_ < 0) {
    problem_ =
        errno == ENOENT ? "there is no such file" : std::string("cannot be opened: ") + std::strerror(errno);
    return;
  }
  LARGE_INTEGER size{};
  const auto identity = identity_of(handle_of(descriptor_));
  if (::GetFileType(handle_of(descriptor_)) != FILE_TYPE_DISK) {
    problem_ = "is no regular file";
  } else if (!identity || !::GetFileSizeEx(handle_of(descriptor_), &size)) {
    problem_ = "cannot be examined";
  } else {
    size_ = static_cast<std::uint64_t>(size.QuadPart);
    identity_ = *identity;
  }
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::_close(descriptor_);
}

bool FileBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD count = 0;
    const auto wanted = static_cast<DWORD>(std::min<std::size_t>(into.size(), 1u << 30));
    if (!::ReadFile(handle_of(descriptor_), into.data(), wanted, &count, &place) || count == 0) return false;
    into = into.subspan(count);
    offset += count;
  }
  return true;
}

std::optional<FileIdentity> file_identity(const std::string& path) noexcept {
  // Folders can be opened with this flag alone.
  const HANDLE file = ::CreateFileA(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return std::nullopt;
  const auto identity = identity_of(file);
  ::CloseHandle(file);
  return identity;
}

}  // namespace nexuml
