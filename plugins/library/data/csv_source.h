// CsvSource: a table of numbers in a text file, with an optional column of labels and of splits.
//
//     DatasetSpec{.source = CsvSource{.path = "digits.csv", .features = {"pixel_0..pixel_63"},
//                                     .label = "label", .scale = 0.0625}}
//
// The whole table is held in memory. Everything that is wrong with the file is reported with its line and
// column (codes E831 and E833), several problems at once.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nexuml_library {

// Shape: features [columns].
struct CsvSource {
  enum class Label { classes, number };
  std::string path;
  std::vector<std::string> features = {};
  std::optional<std::string> label = std::nullopt;
  Label label_type = Label::classes;
  std::vector<std::string> classes = {};
  std::vector<std::string> anomalies = {};
  std::optional<std::string> split = std::nullopt;
  bool header = true;
  std::string delimiter = ",";
  std::string decimal = ".";
  double scale = 1.0;
  std::optional<std::vector<std::int64_t>> shape = std::nullopt;
  std::string feature_key = "features";
  std::string label_key = "label";
  std::string anomaly_key = "anomaly";

  static void describe(nexuml::Schema<CsvSource>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::CsvSource::Label> {
  using Label = nexuml_library::CsvSource::Label;
  static constexpr std::pair<Label, const char*> names[] = {{Label::classes, "classes"},
                                                            {Label::number, "number"}};
};
