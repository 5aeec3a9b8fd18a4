#include "track/report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "track/metrics_csv.h"
#include "track/text_files.h"

namespace nexuml {

namespace {

namespace fs = std::filesystem;

Value read_json_file(const fs::path& path) {
  Diagnostics ignored;
  const auto text = file_text(path);
  return text ? parse_json(*text, path.string(), ignored) : Value();
}

std::vector<std::string> row_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

std::optional<double> number_of(const std::string& cell) {
  double number = 0;
  const char* end = cell.data() + cell.size();
  if (cell.empty() || std::from_chars(cell.data(), end, number).ptr != end) return std::nullopt;
  return number;
}

ReportedMetrics read_metrics(const fs::path& path) {
  ReportedMetrics metrics;
  const auto text = file_text(path);
  if (!text) return metrics;
  std::istringstream lines(*text);
  std::string line;
  if (std::getline(lines, line)) metrics.columns = row_cells(line);
  while (std::getline(lines, line)) {
    std::vector<std::optional<double>> row;
    for (const std::string& cell : row_cells(line)) row.push_back(number_of(cell));
    row.resize(metrics.columns.size());
    metrics.rows.push_back(std::move(row));
  }
  return metrics;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<ReportedEvaluation> read_evaluations(const fs::path& folder) {
  std::vector<ReportedEvaluation> evaluations;
  for (const fs::path& algorithm : sorted_entries(folder / "evaluation")) {
    ReportedEvaluation evaluation{algorithm.filename().string(), {}};
    for (const fs::path& file : sorted_entries(algorithm))
      evaluation.files.push_back(fs::relative(file, folder).generic_string());
    if (!evaluation.files.empty()) evaluations.push_back(std::move(evaluation));
  }
  return evaluations;
}

Value epochs_of(const ReportedMetrics& metrics) {
  Value epochs = Value::list();
  for (const auto& row : metrics.rows) {
    Value epoch = Value::map();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i])  // JSON has no number for those that are not finite
        epoch.set(metrics.columns[i], std::isfinite(*row[i]) ? Value(*row[i]) : Value(metric_text(*row[i])));
    epochs.push_back(std::move(epoch));
  }
  return epochs;
}

}  // namespace

RunReport read_run(const fs::path& folder, std::string diagram) {
  return {.folder = folder,
          .summary = read_json_file(folder / "summary.json"),
          .provenance = read_json_file(folder / "provenance.json"),
          .scenario = file_text(folder / "scenario.yaml").value_or(""),
          .metrics = read_metrics(folder / "metrics.csv"),
          .evaluations = read_evaluations(folder),
          .diagram = std::move(diagram)};
}

Value report_json(const RunReport& report) {
  Value evaluations = Value::list();
  for (const ReportedEvaluation& evaluation : report.evaluations) {
    Value entry = Value::map({{"name", evaluation.name}, {"files", Value(evaluation.files)}});
    for (const std::string& file : evaluation.files)
      if (file.ends_with(".json"))
        entry.set(fs::path(file).stem().string(), read_json_file(report.folder / file));
    evaluations.push_back(std::move(entry));
  }
  Diagnostics ignored;
  return Value::map(
      {{"format", "nexuml-report/1"},
       {"summary", report.summary},
       {"scenario",
        report.scenario.empty() ? Value() : parse_yaml(report.scenario, "scenario.yaml", ignored)},
       {"epochs", epochs_of(report.metrics)},
       {"evaluations", std::move(evaluations)},
       {"provenance", report.provenance}});
}

void write_report(const fs::path& folder, std::string diagram) {
  const RunReport report = read_run(folder, std::move(diagram));
  replace_text(folder / "report.json", write_json(report_json(report)) + "\n");
  replace_text(folder / "report.html", report_page(report));
}

}  // namespace nexuml
