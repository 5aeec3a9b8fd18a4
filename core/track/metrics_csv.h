// metrics.csv, one row an epoch, and steps.csv, one row a step: one column a metric. Rows are kept on disk
// alone.
//
//     MetricsCsv csv(run_folder / "metrics.csv");
//     csv.add({{"epoch", 0}, {"step", 11}, {"lr", 0.001}, {"train/loss", 1.14}});
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace nexuml {

// Shortest text that reads back to the same double; "nan", "inf", "-inf".
NEXUML_EXPORT std::string metric_text(double value);

class NEXUML_EXPORT MetricsCsv {
 public:
  // Keeps the rows of a file that is there: a resumed run goes on. Throws Error E849 when it cannot be read.
  explicit MetricsCsv(std::filesystem::path path);

  // The row is on disk when this returns. A new column rewrites the file; earlier rows are empty there.
  // Throws Error E849; the row is then written with the next one, or by `write_waiting`.
  void add(const OrderedMap<double>& row);
  // Writes rows that could not be written when they came. Throws Error E849.
  void write_waiting();
  // Drops rows from the one whose first column is `value` on: those that a resumed run writes again.
  void drop_from(double value);

 private:
  using Cells = std::vector<std::string>;
  std::vector<Cells> read_rows() const;
  void rewrite(const std::vector<Cells>& rows);
  std::string line_of(const Cells& cells) const;

  std::filesystem::path path_;
  Cells columns_;
  std::ofstream appended_;      // open from the first row that is appended
  std::vector<Cells> waiting_;  // rows that are not in the file
  bool behind_ = false;         // the file lacks a column, or ends inside a row
};

}  // namespace nexuml
