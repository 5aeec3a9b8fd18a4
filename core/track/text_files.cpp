#include "track/text_files.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace nexuml {

std::optional<std::string> file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string folder_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; }, '_');
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

void replace_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path partial = path;
  partial += ".partial";
  std::ofstream file(partial, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code failure = file ? std::error_code() : std::make_error_code(std::errc::io_error);
  if (!failure) std::filesystem::rename(partial, path, failure);
  if (!failure) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Error("E849", fmt::format("the file cannot be written: {}", failure.message()),
              Where::in_file(path.string()), "free some space");
}

}  // namespace nexuml
