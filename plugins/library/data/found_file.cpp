#include "data/found_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <system_error>

namespace nexuml_library {

std::optional<std::filesystem::path> find_file(const std::filesystem::path& root,
                                               const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(root / candidate, ignored)) return root / candidate;
  }
  return std::nullopt;
}

std::filesystem::path require_file(const std::filesystem::path& root,
                                   const std::vector<std::string>& candidates,
                                   const Publication& publication) {
  if (auto found = find_file(root, candidates)) return *std::move(found);
  throw nexuml::Error(
      "E831",
      fmt::format("{} is not there: none of {} exists in {}", publication.name, fmt::join(candidates, ", "),
                  root.string()),
      nexuml::Where::in_file(root.string()),
      fmt::format("get it from {} and lay it out as {}, or set download: true; relative paths are "
                  "read from NEXUML_DATA_ROOT or the folder of the scenario file",
                  publication.where, publication.layout));
}

std::string read_first_bytes(const std::filesystem::path& path, std::size_t most) {
  const auto refuse = [&](const std::string& message) {
    throw nexuml::Error("E831", message, nexuml::Where::in_file(path.string()),
                        "fetch or copy the file again");
  };
  // gzread gives the bytes of a file that is not compressed as they are.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose_r);
  if (!file) refuse("the file cannot be opened");
  std::string bytes;
  std::string buffer(std::size_t{1} << 20, '\0');
  while (bytes.size() <= most) {
    const std::size_t wanted = std::min(buffer.size(), most + 1 - bytes.size());
    const int count = gzread(file.get(), buffer.data(), static_cast<unsigned>(wanted));
    if (count < 0) {
      int code = 0;
      refuse(fmt::format("the file cannot be read: {}", gzerror(file.get(), &code)));
    }
    if (count == 0) break;
    bytes.append(buffer, 0, static_cast<std::size_t>(count));
  }
  int code = 0;
  (void)gzerror(file.get(), &code);
  if (code == Z_BUF_ERROR) refuse("the compressed file is cut off");
  return bytes;
}

std::string read_bytes(const std::filesystem::path& path, std::size_t most) {
  std::string bytes = read_first_bytes(path, most);
  if (bytes.size() > most)
    throw nexuml::Error("E831", fmt::format("the file holds more than {} bytes", most),
                        nexuml::Where::in_file(path.string()), "fetch or copy the file again");
  return bytes;
}

}  // namespace nexuml_library
