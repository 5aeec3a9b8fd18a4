// The report of a run: everything that its folder holds, for programs (report.json) and for people
// (report.html, one page without outside files).
//
//     write_report(run_folder, svg_diagram(pipeline, scenario));
//
// Reads summary.json, provenance.json, scenario.yaml, metrics.csv and the files below evaluation/. What is
// not there is left out. Throws Error E849 when a report cannot be written.
#pragma once

#include <nexuml/export.h>
#include <nexuml/value.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

// One evaluation algorithm's files, by name; paths are relative to the run folder.
struct ReportedEvaluation {
  std::string name;
  std::vector<std::string> files;
};

// metrics.csv: empty cells hold nothing.
struct ReportedMetrics {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> rows;
};

struct RunReport {
  std::filesystem::path folder;
  Value summary, provenance;  // null where there is none
  std::string scenario;       // YAML
  ReportedMetrics metrics;
  std::vector<ReportedEvaluation> evaluations;
  std::string diagram;  // SVG
};

NEXUML_EXPORT RunReport read_run(const std::filesystem::path& folder, std::string diagram);
NEXUML_EXPORT Value report_json(const RunReport& report);
NEXUML_EXPORT std::string report_page(const RunReport& report);
NEXUML_EXPORT void write_report(const std::filesystem::path& folder, std::string diagram);

}  // namespace nexuml
