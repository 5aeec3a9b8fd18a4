// CsvReader: rows of a delimited text, each cell with its place.
//
//     CsvReader reader(text, {.file = "sensors.csv", .delimiter = ','});
//     CsvRow row;
//     while (reader.next(row)) use(row.cells[0].text);
//
// Rows end with LF, CRLF or CR; lines without any cell are passed over. Cells may stand in double quotes, a
// doubled quote inside meaning one, and then hold delimiters and line ends; other cells lose blanks around
// them. The text may start with the mark of UTF-8. Throws nexuml::Error E833 with file, line and column.
#pragma once

#include <nexuml/diagnostic.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml_library {

struct CsvCell {
  std::string_view text;  // valid until the next row is read
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // in bytes, from 1
  bool quoted = false;
};

struct CsvRow {
  std::vector<CsvCell> cells;
  std::uint32_t line = 0;
};

struct CsvFormat {
  std::string file;  // for messages
  char delimiter = ',';
};

class CsvReader {
 public:
  // `text` has to outlive the reader. Refuses UTF-16, NUL bytes and text that is no UTF-8.
  CsvReader(std::string_view text, CsvFormat format);

  bool next(CsvRow& row);
  nexuml::Where where(const CsvCell& cell) const { return at(cell.line, cell.column); }
  nexuml::Where where(const CsvRow& row) const { return at(row.line, 1); }

 private:
  bool at_end() const noexcept { return position_ == text_.size(); }
  bool at_line_end() const noexcept;
  void end_line();
  CsvCell read_cell();
  CsvCell read_quoted_cell();
  void check_encoding() const;
  std::uint32_t column() const noexcept { return static_cast<std::uint32_t>(position_ - line_start_ + 1); }
  nexuml::Where at(std::uint32_t line, std::uint32_t column) const;

  std::string_view text_;
  CsvFormat format_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::deque<std::string> unescaped_;  // cells of the current row that held doubled quotes
};

}  // namespace nexuml_library
