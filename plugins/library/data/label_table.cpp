#include "data/label_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "data/csv_reader.h"
#include "data/found_file.h"

namespace nexuml_library {

namespace {
constexpr std::size_t most_table_bytes = std::size_t{1} << 30;
}

std::optional<std::size_t> LabelTable::find(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (const auto found = std::find(columns.begin(), columns.end(), name); found != columns.end())
      return static_cast<std::size_t>(std::distance(columns.begin(), found));
  return std::nullopt;
}

std::size_t LabelTable::require(const std::vector<std::string>& names) const {
  if (const auto found = find(names)) return *found;
  throw nexuml::Error("E833",
                      fmt::format("the table has no column {}; it has {}", fmt::join(names, " or "),
                                  fmt::join(columns, ", ")),
                      nexuml::Where::in_file(file.string()), nexuml::did_you_mean(names.front(), columns));
}

LabelTable read_label_table(const std::filesystem::path& file) {
  const std::string text = read_bytes(file, most_table_bytes);
  const std::string_view first_line = std::string_view(text).substr(0, text.find_first_of("\r\n"));
  CsvReader reader(text, {.file = file.string(),
                          .delimiter = first_line.find('\t') != std::string_view::npos ? '\t' : ','});
  LabelTable table{.file = file, .columns = {}, .rows = {}};
  CsvRow row;
  while (reader.next(row)) {
    std::vector<std::string> cells;
    for (const CsvCell& cell : row.cells) cells.emplace_back(cell.text);
    if (table.columns.empty()) {
      table.columns = std::move(cells);
      continue;
    }
    if (cells.size() != table.columns.size())
      throw nexuml::Error("E833",
                          fmt::format("{} cells; the header has {}", cells.size(), table.columns.size()),
                          reader.where(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::optional<std::filesystem::path> rerooted(const std::string& written, const std::filesystem::path& table,
                                              const std::vector<std::filesystem::path>& folders) {
  const std::filesystem::path path(written);
  std::vector<std::filesystem::path> candidates{path.is_absolute() ? path : table.parent_path() / path};
  for (const auto& folder : folders) {
    if (path.is_relative()) candidates.push_back(folder / path);
    candidates.push_back(folder / path.filename());
  }
  for (const auto& candidate : candidates) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

}  // namespace nexuml_library
