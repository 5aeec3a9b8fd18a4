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
  if (std::filesystem::exists(path_)) read();
}

void MetricsCsv::read() {
  std::ifstream file(path_);
  std::string line;
  if (std::getline(file, line)) columns_ = cells_of(line);
  while (std::getline(file, line)) rows_.push_back(cells_of(line));
  if (file.bad()) csv_failed(path_, "read");
}

void MetricsCsv::add(const OrderedMap<double>& row) {
  const bool new_file = columns_.empty();
  const std::size_t known = columns_.size();
  for (const auto& [name, value] : row)
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) columns_.push_back(name);
  std::vector<std::string> cells;
  for (const std::string& column : columns_) {
    const double* value = row.find(column);
    cells.push_back(value ? metric_text(*value) : std::string());
  }
  rows_.push_back(std::move(cells));
  if (new_file || columns_.size() != known) return rewrite();
  std::ofstream file(path_, std::ios::app | std::ios::binary);
  file << line_of(rows_.back());
  file.flush();
  if (!file) csv_failed(path_, "written");
}

void MetricsCsv::drop_from(double value) {
  const auto is_later = [&](const std::vector<std::string>& cells) {
    double first = 0;
    if (cells.empty()) return false;
    std::from_chars(cells.front().data(), cells.front().data() + cells.front().size(), first);
    return first >= value;
  };
  if (std::erase_if(rows_, is_later) != 0) rewrite();
}

void MetricsCsv::rewrite() const {
  std::string text = line_of(columns_);
  for (const auto& row : rows_) text += line_of(row);
  replace_text(path_, text);
}

std::string MetricsCsv::line_of(const std::vector<std::string>& cells) const {
  std::vector<std::string> padded = cells;
  padded.resize(columns_.size());
  return fmt::format("{}\n", fmt::join(padded, ","));
}

}  // namespace nexuml
