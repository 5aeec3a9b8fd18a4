#include "data/csv_reader.h"

#include <fmt/format.h>

#include <optional>

namespace nexuml_library {

namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Bytes of the UTF-8 character at the start of `text`; 0 for a byte sequence that is none (RFC 3629).
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate_or_beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || surrogate_or_beyond ? 0 : length;
}

struct BadByte {
  std::uint32_t line;
  std::uint32_t column;
  unsigned char byte;
};

std::optional<BadByte> first_bad_byte(std::string_view text) {
  std::uint32_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i, 4));
    if (length == 0 || text[i] == '\0')
      return BadByte{line, static_cast<std::uint32_t>(i - line_start + 1),
                     static_cast<unsigned char>(text[i])};
    if (text[i] == '\n' || (text[i] == '\r' && text.substr(i + 1, 1) != "\n")) {
      ++line;
      line_start = i + 1;
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, CsvFormat format) : text_(text), format_(std::move(format)) {
  if (text_.starts_with(utf8_mark)) text_.remove_prefix(utf8_mark.size());
  check_encoding();
}

void CsvReader::check_encoding() const {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    throw nexuml::Error("E833", "the file is UTF-16 text; UTF-8 is expected", at(1, 1),
                        "save it as UTF-8: in a spreadsheet, choose 'CSV UTF-8'");
  if (const auto bad = first_bad_byte(text_))
    throw nexuml::Error("E833",
                        bad->byte == 0
                            ? std::string("a NUL byte: this is no text file, or UTF-16 without a mark")
                            : fmt::format("byte {:#04x} is no UTF-8 text", bad->byte),
                        at(bad->line, bad->column), "save the file as UTF-8");
}

nexuml::Where CsvReader::at(std::uint32_t line, std::uint32_t column) const {
  nexuml::Where where = nexuml::Where::in_file(format_.file);
  where.line = line;
  where.column = column;
  return where;
}

bool CsvReader::at_line_end() const noexcept {
  return at_end() || text_[position_] == '\n' || text_[position_] == '\r';
}

void CsvReader::end_line() {
  if (at_end()) return;
  const bool two = text_.substr(position_, 2) == "\r\n";
  position_ += two ? 2 : 1;
  ++line_;
  line_start_ = position_;
}

bool CsvReader::next(CsvRow& row) {
  while (!at_end()) {
    row.cells.clear();
    unescaped_.clear();
    row.line = line_;
    row.cells.push_back(read_cell());
    while (!at_line_end()) {
      ++position_;  // the delimiter
      row.cells.push_back(read_cell());
    }
    end_line();
    const CsvCell& first = row.cells.front();
    if (row.cells.size() > 1 || first.quoted || !first.text.empty()) return true;
  }
  return false;
}

CsvCell CsvReader::read_cell() {
  const std::size_t start = position_;
  while (!at_line_end() && is_blank(text_[position_]) && text_[position_] != format_.delimiter) ++position_;
  if (!at_end() && text_[position_] == '"') return read_quoted_cell();
  position_ = start;
  CsvCell cell{.text = {}, .line = line_, .column = column()};
  while (!at_line_end() && text_[position_] != format_.delimiter) ++position_;
  cell.text = trimmed(text_.substr(start, position_ - start));
  return cell;
}

CsvCell CsvReader::read_quoted_cell() {
  CsvCell cell{.text = {}, .line = line_, .column = column(), .quoted = true};
  const std::size_t start = ++position_;
  bool doubled = false;
  while (true) {
    if (at_end())
      throw nexuml::Error("E833", "a quote that is opened here is never closed", where(cell),
                          "close it, or write a quote inside a quoted cell twice");
    if (text_[position_] == '"') {
      if (text_.substr(position_, 2) != "\"\"") break;
      doubled = true;
      position_ += 2;
    } else if (at_line_end()) {
      end_line();
    } else {
      ++position_;
    }
  }
  cell.text = text_.substr(start, position_ - start);
  if (doubled) {
    std::string& text = unescaped_.emplace_back();
    for (std::size_t i = 0; i < cell.text.size(); ++i) {
      text += cell.text[i];
      if (cell.text[i] == '"') ++i;
    }
    cell.text = text;
  }
  ++position_;
  while (!at_line_end() && text_[position_] != format_.delimiter) {
    if (!is_blank(text_[position_]))
      throw nexuml::Error("E833", "text follows the closing quote of a cell", at(line_, column()),
                          "write a quote inside a quoted cell twice");
    ++position_;
  }
  return cell;
}

}  // namespace nexuml_library
