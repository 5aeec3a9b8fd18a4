#include "evaluation/table_file.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <cctype>
#include <fstream>
#include <system_error>

namespace nexuml_library {

void TableFile::separate() {
  if (row_started_) text_ += ",";
  row_started_ = true;
}

void TableFile::append(std::string_view cell) {
  separate();
  const bool padded = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');
  if (!padded && cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text_ += cell;
    return;
  }
  text_ += '"';
  for (const char c : cell) text_ += c == '"' ? std::string("\"\"") : std::string(1, c);
  text_ += '"';
}

void TableFile::append(std::int64_t number) {
  separate();
  text_ += fmt::format("{}", number);
}

void TableFile::append(double number) {
  separate();
  text_ += fmt::format("{}", number);
}

void TableFile::append(const std::optional<double>& number) {
  if (number)
    append(*number);
  else
    separate();
}

std::string file_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  return text;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path partial = path;
  partial += ".partial";
  std::error_code failure;
  {
    std::ofstream file(partial, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) failure = std::make_error_code(std::errc::io_error);
  }
  if (!failure) std::filesystem::rename(partial, path, failure);
  if (!failure) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw nexuml::Error("E855", fmt::format("the file cannot be written: {}", failure.message()),
                      nexuml::Where::in_file(path.string()), "free some space, or choose another run folder");
}

}  // namespace nexuml_library
