// TableFile: a small table as CSV, and text files written whole or not at all.
//
//     TableFile table({"class", "f1"});
//     table.add("seven", std::optional(0.9));
//     write_text(folder / "scores.csv", table.text());
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml_library {

class TableFile {
 public:
  explicit TableFile(const std::vector<std::string>& header) { add(header); }

  // One row. An empty optional leaves its cell empty; a list fills one cell each.
  template <class... Cells>
  void add(const Cells&... cells) {
    (append(cells), ...);
    text_ += "\n";
    row_started_ = false;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  void append(std::string_view cell);  // quoted where needed
  void append(const std::string& cell) { append(std::string_view(cell)); }
  void append(std::int64_t number);
  void append(double number);
  void append(const std::optional<double>& number);
  template <class T>
  void append(const std::vector<T>& cells) {
    for (const T& cell : cells) append(cell);
  }
  void separate();

  std::string text_;
  bool row_started_ = false;
};

// The text with all characters replaced that a file name had better not hold.
std::string file_name(std::string text);

// Written beside and renamed. Throws nexuml::Error E855.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace nexuml_library
