#include "tensor_io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace nexuml::tensor_io {

namespace {

std::string system_text(int error) {
  return std::generic_category().message(error);
}

// Where a symbolic link leads, as far as its text says it; empty for anything else.
std::string link_target(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

[[noreturn]] void refuse_to_open(const std::string& path, int error) {
  const std::string target = link_target(path);
  if (target.empty()) refuse("E750", fmt::format("cannot read {}: {}", path, system_text(error)), path);
  const std::string reason = error == ENOENT  ? "which does not exist"
                             : error == ELOOP ? "a link loop"
                                              : system_text(error);
  refuse("E750", fmt::format("cannot read {}: the link leads to {}, {}", path, target, reason), path,
         "put a copy of the file in the place of the link");
}

}  // namespace

void refuse(std::string code, std::string message, const std::string& file, std::string hint) {
  throw Error(std::move(code), std::move(message), Where::in_file(file), std::move(hint));
}

std::string byte_count(std::uint64_t bytes) {
  const std::string digits = fmt::format("{}", bytes);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text + (bytes == 1 ? " byte" : " bytes");
}

void Input::check_range(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= size_ && length <= size_ - offset) return;
  refuse("E751",
         fmt::format("{} is cut off: {} needed from byte {}, the file has {}", name_, byte_count(length),
                     offset, byte_count(size_)),
         name_);
}

void Input::read(std::uint64_t offset, std::span<std::byte> into) const {
  check_range(offset, into.size());
  if (!into.empty()) read_checked(offset, into);
}

std::string Input::read_text(std::uint64_t offset, std::size_t length) const {
  check_range(offset, length);
  std::string text(length, '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

MemoryInput::MemoryInput(std::string_view bytes, std::string name)
    : Input(std::move(name), bytes.size()), bytes_(bytes) {}

void MemoryInput::read_checked(std::uint64_t offset, std::span<std::byte> into) const {
  std::memcpy(into.data(), bytes_.data() + offset, into.size());
}

std::unique_ptr<FileInput> FileInput::open(const std::string& path) {
  // O_NONBLOCK so that a named pipe is refused below and not waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse_to_open(path, errno);
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    refuse("E750",
           fmt::format("cannot read {}: {}", path,
                       known && S_ISDIR(status.st_mode) ? "it is a directory" : "it is no regular file"),
           path);
  }
  return std::unique_ptr<FileInput>(
      new FileInput(path, static_cast<std::uint64_t>(status.st_size), descriptor));
}

FileInput::FileInput(std::string path, std::uint64_t size, int descriptor)
    : Input(std::move(path), size), descriptor_(descriptor) {}

FileInput::~FileInput() {
  ::close(descriptor_);
}

void FileInput::read_checked(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("E750", fmt::format("cannot read {}: {}", name(), system_text(errno)), name());
    if (got == 0) refuse("E751", fmt::format("{} became shorter while it was read", name()), name());
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

std::shared_ptr<std::byte> FileInput::map() const {
  const std::size_t length = size();
  if (length == 0) return nullptr;
  void* start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_, 0);
  if (start == MAP_FAILED) {
    refuse("E750", fmt::format("cannot map {}: {}", name(), system_text(errno)), name());
  }
  return {static_cast<std::byte*>(start), [length](std::byte* mapped) { ::munmap(mapped, length); }};
}

std::string describe_foreign(const Input& input) {
  if (input.size() == 0) return "it is empty";
  const std::string head = input.read_text(0, std::min<std::uint64_t>(input.size(), 512));
  const std::size_t first = std::min(head.find_first_not_of(" \t\r\n\xef\xbb\xbf"), head.size());
  std::string text = head.substr(first);
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  if (text.starts_with("<!doctype") || text.starts_with("<html") || text.starts_with("<head")) {
    return "it looks like HTML, not weights";
  }
  if (text.starts_with("<?xml")) return "it looks like XML, not weights";
  if (text.starts_with("version https://git-lfs")) return "it is a Git LFS pointer, not the file itself";
  if (head.starts_with("PK\x03\x04")) return "it is a zip archive, such as torch.save and numpy.savez write";
  if (head.starts_with("\x93NUMPY")) return "it is an NPY array";
  if (head.starts_with("\x89HDF\r\n")) return "it is an HDF5 file";
  if (head.starts_with("\x1f\x8b")) return "it is compressed with gzip";
  if (head.size() > 9 && head[8] == '{' && head[7] == '\0') return "it looks like a safetensors file";
  // What a link becomes on its way through systems that have none.
  const std::string line = head.substr(0, head.find_last_not_of("\r\n") + 1);
  const auto is_text = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (head.size() == input.size() && std::ranges::all_of(line, is_text))
    return fmt::format("it holds only the text '{}': a link that was copied as text", line);
  return {};
}

}  // namespace nexuml::tensor_io
