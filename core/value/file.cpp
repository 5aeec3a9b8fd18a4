#include <fmt/format.h>
#include <nexuml/value.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace nexuml {
namespace {

std::string refused_file(Diagnostics& problems, const std::string& path, std::string message,
                         std::string hint) {
  problems.error("E701", std::move(message), Where::in_file(path)).hint = std::move(hint);
  return {};
}

std::string last_system_error() {
  return std::generic_category().message(errno);
}

}  // namespace

std::string read_text_file(const std::string& path, Diagnostics& problems, std::size_t max_bytes) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (path.empty() || status.type() == fs::file_type::not_found) {
    return refused_file(problems, path, "the file does not exist", "check the path");
  }
  if (status.type() == fs::file_type::directory) {
    return refused_file(problems, path, "a file is needed, this is a directory", "name the file inside it");
  }
  if (failure)
    return refused_file(problems, path, "the file cannot be read: " + failure.message(),
                        "check its permissions");
  // A pipe or a device could block for ever.
  if (status.type() != fs::file_type::regular) {
    return refused_file(problems, path, "a regular file is needed, this is a device, a pipe or a socket",
                        "copy it into a file");
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return refused_file(problems, path, "the file cannot be opened: " + last_system_error(),
                        "check its permissions");
  std::string text;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (!failure && size <= max_bytes) text.reserve(static_cast<std::size_t>(size) + 1);
  char chunk[65536];
  while (text.size() <= max_bytes && (stream.read(chunk, sizeof chunk), stream.gcount() > 0)) {
    text.append(chunk, static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad())
    return refused_file(problems, path, "reading the file failed: " + last_system_error(), "check the disk");
  if (text.size() > max_bytes) {
    return refused_file(problems, path,
                        fmt::format("the file has more than {} bytes, too many for a document", max_bytes),
                        "check that this is the right file");
  }
  return text;
}

}  // namespace nexuml
