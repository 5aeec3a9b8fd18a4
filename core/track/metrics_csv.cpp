#include "track/metrics_csv.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "track/text_files.h"

namespace nexuml {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

[[noreturn]] void csv_failed(const std::filesystem::path& path, const char* action) {
  throw Error("E849", fmt::format("the metrics cannot be {}", action), Where::in_file(path.string()));
}

}  // namespace

std::string metric_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

MetricsCsv::MetricsCsv(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file(path_);
  std::string line;
  if (std::getline(file, line)) columns_ = cells_of(line);
  if (file.bad()) csv_failed(path_, "read");
}

std::vector<MetricsCsv::Cells> MetricsCsv::read_rows() const {
  std::vector<Cells> rows;
  std::ifstream file(path_);
  std::string line;
  std::getline(file, line);                                                        // the header
  while (std::getline(file, line) && !file.eof()) rows.push_back(cells_of(line));  // whole lines
  if (file.bad()) csv_failed(path_, "read");
  return rows;
}

void MetricsCsv::add(const OrderedMap<double>& row) {
  const std::size_t known = columns_.size();
  for (const auto& [name, value] : row)
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) columns_.push_back(name);
  Cells cells;
  for (const std::string& column : columns_) {
    const double* value = row.find(column);
    cells.push_back(value ? metric_text(*value) : std::string());
  }
  waiting_.push_back(std::move(cells));
  if (columns_.size() != known) behind_ = true;
  write_waiting();
}

void MetricsCsv::write_waiting() {
  if (waiting_.empty()) return;
  if (behind_) {
    std::vector<Cells> rows = read_rows();
    rows.insert(rows.end(), waiting_.begin(), waiting_.end());
    rewrite(rows);
  } else {
    behind_ = true;  // until the line is whole
    if (!appended_.is_open()) appended_.open(path_, std::ios::app | std::ios::binary);
    appended_ << line_of(waiting_.front());
    appended_.flush();
    if (!appended_) csv_failed(path_, "written");
  }
  behind_ = false;
  waiting_.clear();
}

void MetricsCsv::drop_from(double value) {
  const auto is_later = [&](const Cells& cells) {
    double first = 0;
    if (cells.empty()) return false;
    std::from_chars(cells.front().data(), cells.front().data() + cells.front().size(), first);
    return first >= value;
  };
  std::vector<Cells> rows = read_rows();
  if (std::erase_if(rows, is_later) != 0) rewrite(rows);
}

void MetricsCsv::rewrite(const std::vector<Cells>& rows) {
  appended_.close();  // of the file that is replaced
  std::string text = line_of(columns_);
  for (const Cells& row : rows) text += line_of(row);
  replace_text(path_, text);
}

std::string MetricsCsv::line_of(const Cells& cells) const {
  Cells padded = cells;
  padded.resize(columns_.size());
  return fmt::format("{}\n", fmt::join(padded, ","));
}

}  // namespace nexuml
