#include "data/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace nexuml_library {

namespace {

constexpr std::string_view range_mark = "..";

// A header of one cell that holds another delimiter is a file with that delimiter.
void check_delimiter(const CsvReader& reader, const CsvRow& first) {
  if (first.cells.front().text.starts_with("sep="))
    throw nexuml::Error(
        "E833",
        fmt::format("the file begins with '{}', a mark of one spreadsheet program", first.cells.front().text),
        reader.where(first.cells.front()), "remove this line and set `delimiter`");
  if (first.cells.size() != 1) return;
  const std::string_view text = first.cells.front().text;
  for (const auto& [delimiter, shown] : {std::pair{';', ";"}, {'\t', "\\t"}, {'|', "|"}, {',', ","}})
    if (text.find(delimiter) != std::string_view::npos)
      throw nexuml::Error(
          "E833", fmt::format("one column named '{}': the file seems to have another delimiter", text),
          reader.where(first.cells.front()),
          delimiter == ';' ? "set delimiter: ';', and decimal: ',' where numbers are written 0,5"
                           : fmt::format("set delimiter: \"{}\"", shown));
}

std::vector<std::string> header_names(const CsvReader& reader, const CsvRow& header) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::size_t>> positions;
  nexuml::Diagnostics problems;
  for (const CsvCell& cell : header.cells) {
    names.emplace_back(cell.text);
    positions[names.back()].push_back(names.size());
    if (cell.text.empty())
      problems.error("E833", fmt::format("column {} has no name", names.size()), reader.where(cell)).hint =
          "name every column, or set header: false where the file has no header";
  }
  for (const auto& [name, at] : positions)
    if (!name.empty() && at.size() > 1)
      problems
          .error("E833",
                 fmt::format("the column name '{}' is given {} times, at positions {}", name, at.size(),
                             fmt::join(at, ", ")),
                 reader.where(header.cells[at[1] - 1]))
          .hint = "rename all but one";
  if (problems.has_errors()) throw nexuml::Error(std::move(problems));
  return names;
}

class ColumnChoice {
 public:
  ColumnChoice(const std::vector<std::string>& names, nexuml::Where where)
      : names_(names), where_(std::move(where)) {}

  std::optional<std::size_t> find(const std::string& name, std::string_view field) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    problems_
        .error("E833",
               fmt::format("`{}` names the column '{}', which the file does not have; it has {}", field, name,
                           shown_names()),
               where_)
        .hint = nexuml::did_you_mean(name, names_);
    return std::nullopt;
  }

  // One column, or `first..last`.
  void add_features(const std::string& entry, std::vector<std::size_t>& features) {
    const std::size_t mark = entry.find(range_mark);
    const bool is_name = std::find(names_.begin(), names_.end(), entry) != names_.end();
    if (is_name || mark == std::string::npos) {
      if (const auto column = find(entry, "features")) features.push_back(*column);
      return;
    }
    const auto first = find(entry.substr(0, mark), "features");
    const auto last = find(entry.substr(mark + range_mark.size()), "features");
    if (first && last && *first > *last)
      problems_.error(
          "E833",
          fmt::format("`features` names the range '{}', and its last column stands before its first", entry),
          where_);
    else if (first && last)
      for (std::size_t column = *first; column <= *last; ++column) features.push_back(column);
  }

  void refuse(std::string message) { problems_.error("E833", std::move(message), where_); }
  void finish() {
    if (problems_.has_errors()) throw nexuml::Error(std::move(problems_));
  }

 private:
  std::string shown_names() const {
    constexpr std::size_t most = 12;
    const std::vector<std::string> shown(
        names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(std::min(most, names_.size())));
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       names_.size() > most ? fmt::format(" and {} more", names_.size() - most) : "");
  }

  const std::vector<std::string>& names_;
  nexuml::Where where_;
  nexuml::Diagnostics problems_;
};

}  // namespace

bool looks_numeric(const CsvRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(), [](const CsvCell& cell) {
    double number = 0;
    const char* end = cell.text.data() + cell.text.size();
    return std::from_chars(cell.text.data(), end, number).ptr == end && !cell.text.empty();
  });
}

CsvColumns csv_columns(const CsvSource& source, const CsvReader& reader, const CsvRow& first) {
  check_delimiter(reader, first);
  CsvColumns columns;
  if (source.header)
    columns.names = header_names(reader, first);
  else
    for (std::size_t i = 1; i <= first.cells.size(); ++i)
      columns.names.push_back(fmt::format("column_{}", i));

  ColumnChoice choice(columns.names, reader.where(first));
  if (source.label) columns.label = choice.find(*source.label, "label");
  if (source.split) columns.split = choice.find(*source.split, "split");
  for (const std::string& entry : source.features) choice.add_features(entry, columns.features);
  choice.finish();
  if (source.features.empty())
    for (std::size_t column = 0; column < columns.names.size(); ++column)
      if (column != columns.label && column != columns.split) columns.features.push_back(column);

  std::set<std::size_t> seen;
  for (const std::size_t column : columns.features) {
    if (!seen.insert(column).second)
      choice.refuse(fmt::format("`features` lists the column '{}' twice", columns.names[column]));
    if (column == columns.label || column == columns.split)
      choice.refuse(fmt::format("the column '{}' is a feature and the {}", columns.names[column],
                                column == columns.label ? "label" : "split"));
  }
  if (columns.features.empty()) choice.refuse("no column is left for the features");
  if (columns.label && columns.label == columns.split)
    choice.refuse(fmt::format("the column '{}' is both label and split", columns.names[*columns.label]));
  choice.finish();
  return columns;
}

}  // namespace nexuml_library
