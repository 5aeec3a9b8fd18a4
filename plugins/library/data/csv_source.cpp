#include "data/csv_source.h"

#include <fmt/format.h>
#include <nexuml/data.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "data/csv_columns.h"
#include "data/csv_numbers.h"
#include "data/csv_reader.h"

namespace nexuml_library {

namespace {

constexpr std::size_t most_table_bytes = std::size_t{4} << 30;
constexpr std::size_t most_table_problems = 20;  // then reading stops

bool is_training_split(const std::string& split) {
  return split == "train" || split == "fit" || split == "all";
}
bool is_split(const std::string& split) {
  return is_training_split(split) || split == "test" || split.find("val") != std::string::npos;
}

// Whole numbers by value, anything else by its bytes.
std::vector<std::string> sorted_classes(const std::set<std::string>& texts) {
  std::vector<std::pair<std::int64_t, std::string>> numbers;
  for (const std::string& text : texts) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr != end) return {texts.begin(), texts.end()};
    numbers.emplace_back(number, text);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> classes;
  for (auto& [number, text] : numbers) classes.push_back(std::move(text));
  return classes;
}

// Reads one file from the first row to the dataset.
class CsvTable {
 public:
  CsvTable(const CsvSource& source, CsvReader& reader, const CsvColumns& columns)
      : source_(source), reader_(reader), columns_(columns) {}

  void add(const CsvRow& row) {
    if (row.cells.size() != columns_.names.size()) {
      problem(reader_.where(row),
              fmt::format("the row has {} cells; {} are expected, one a column", row.cells.size(),
                          columns_.names.size()),
              "put a cell that holds the delimiter in double quotes");
      return;
    }
    ++rows_;
    for (const std::size_t column : columns_.features)
      values_.push_back(number(row.cells[column], columns_.names[column]) *
                        static_cast<float>(source_.scale));
    if (columns_.label) add_label(row.cells[*columns_.label], columns_.names[*columns_.label]);
    if (columns_.split) add_split(row.cells[*columns_.split], columns_.names[*columns_.split]);
  }

  std::shared_ptr<nexuml::Dataset> finish() {
    if (columns_.label && source_.label_type == CsvSource::Label::classes) choose_classes();
    if (problems_.has_errors()) throw nexuml::Error(std::move(problems_));
    nexuml::TensorDict x;
    x.set(source_.feature_key, features());
    std::optional<nexuml::TensorDict> y;
    nexuml::TensorDatasetInfo info;
    info.splits = std::move(splits_);
    if (columns_.label) {
      y.emplace();
      y->set(source_.label_key, labels());
      if (!classes_.empty()) {
        info.num_classes[source_.label_key] = static_cast<std::int64_t>(classes_.size());
        info.class_names[source_.label_key] = classes_;
      }
      if (!source_.anomalies.empty()) set_anomalies(*y, info);
    }
    return std::make_shared<nexuml::TensorDataset>(std::move(x), std::move(y), std::move(info));
  }

 private:
  struct LabelCell {
    std::string text;
    std::uint32_t line, column;
  };

  void problem(nexuml::Where where, std::string message, std::string hint = {}) {
    problems_.error("E833", std::move(message), std::move(where)).hint = std::move(hint);
    if (problems_.size() < most_table_problems) return;
    problems_.note("E833", fmt::format("reading stopped after {} problems", most_table_problems));
    throw nexuml::Error(std::move(problems_));
  }

  float number(const CsvCell& cell, const std::string& column) {
    const auto parsed = parse_csv_number(cell.text, *source_.decimal.c_str());
    if (const float* value = std::get_if<float>(&parsed)) return *value;
    const auto& failure = std::get<CsvNumberProblem>(parsed);
    problem(reader_.where(cell), fmt::format("column '{}': {}", column, failure.message), failure.hint);
    return 0;
  }

  void add_label(const CsvCell& cell, const std::string& column) {
    if (source_.label_type == CsvSource::Label::number) {
      label_numbers_.push_back(number(cell, column));
    } else if (cell.text.empty()) {
      problem(reader_.where(cell), fmt::format("column '{}': the label is missing", column),
              "fill it in, or remove the row");
    } else {
      label_cells_.push_back({std::string(cell.text), cell.line, cell.column});
    }
  }

  void add_split(const CsvCell& cell, const std::string& column) {
    splits_.emplace_back(cell.text);
    if (!is_split(splits_.back()))
      problem(reader_.where(cell),
              fmt::format("column '{}': train, val, test, fit or all is expected, found '{}'", column,
                          cell.text));
  }

  void choose_classes() {
    if (problems_.has_errors()) return;  // rows and cells may not match
    std::set<std::string> seen;
    for (std::size_t row = 0; row < label_cells_.size(); ++row)
      if (splits_.empty() || is_training_split(splits_[row])) seen.insert(label_cells_[row].text);
    classes_ = source_.classes.empty() ? sorted_classes(seen) : source_.classes;

    std::map<std::string, std::int64_t> numbers;
    for (const std::string& name : classes_) numbers.emplace(name, static_cast<std::int64_t>(numbers.size()));
    for (std::size_t row = 0; row < label_cells_.size(); ++row) {
      const LabelCell& cell = label_cells_[row];
      const auto found = numbers.find(cell.text);
      class_numbers_.push_back(found == numbers.end() ? 0 : found->second);
      if (found == numbers.end()) refuse_label(cell, splits_.empty() ? "" : splits_[row]);
    }
  }

  void refuse_label(const LabelCell& cell, const std::string& split) {
    const nexuml::Where where = reader_.where(CsvCell{.line = cell.line, .column = cell.column});
    if (source_.classes.empty())
      problem(where,
              fmt::format("the label '{}' of a {} row is never seen in training; seen are {}", cell.text,
                          split, fmt::join(classes_, ", ")),
              "add training rows with it, or list all labels in `classes`");
    else
      problem(where,
              fmt::format("the label '{}' is none of `classes`: {}", cell.text, fmt::join(classes_, ", ")),
              nexuml::did_you_mean(cell.text, classes_));
  }

  // Anomalies are only for the test; all other rows are divided.
  void set_anomalies(nexuml::TensorDict& y, nexuml::TensorDatasetInfo& info) const {
    std::vector<std::int64_t> anomalous;
    info.splits.clear();
    for (const LabelCell& cell : label_cells_) {
      const auto& listed = source_.anomalies;
      anomalous.push_back(std::find(listed.begin(), listed.end(), cell.text) != listed.end());
      info.splits.emplace_back(anomalous.back() ? "test" : "all");
    }
    for (const std::string& label : source_.anomalies) {
      const auto has_label = [&](const LabelCell& cell) { return cell.text == label; };
      if (std::none_of(label_cells_.begin(), label_cells_.end(), has_label))
        throw nexuml::Error(
            "E833",
            fmt::format("`anomalies` names the label '{}', which no row of {} has", label, source_.path), {},
            nexuml::did_you_mean(label, classes_));
    }
    y.set(source_.anomaly_key, at::tensor(at::ArrayRef<std::int64_t>(anomalous), at::kLong));
    info.num_classes[source_.anomaly_key] = 2;
    info.class_names[source_.anomaly_key] = {"normal", "anomalous"};
  }

  at::Tensor features() const {
    std::vector<std::int64_t> sizes{rows_};
    const auto columns = static_cast<std::int64_t>(columns_.features.size());
    const std::vector<std::int64_t> sample = source_.shape.value_or(std::vector<std::int64_t>{columns});
    sizes.insert(sizes.end(), sample.begin(), sample.end());
    return at::tensor(at::ArrayRef<float>(values_), at::kFloat).reshape(sizes);
  }

  at::Tensor labels() const {
    if (source_.label_type == CsvSource::Label::number)
      return at::tensor(at::ArrayRef<float>(label_numbers_), at::kFloat);
    return at::tensor(at::ArrayRef<std::int64_t>(class_numbers_), at::kLong);
  }

  const CsvSource& source_;
  CsvReader& reader_;
  const CsvColumns& columns_;
  std::int64_t rows_ = 0;
  std::vector<float> values_;         // row by row
  std::vector<float> label_numbers_;  // of a label that is a number
  std::vector<LabelCell> label_cells_;
  std::vector<std::int64_t> class_numbers_;
  std::vector<std::string> classes_, splits_;
  nexuml::Diagnostics problems_;
};

std::string read_file(const CsvSource& source, const std::filesystem::path& path) {
  nexuml::Diagnostics problems;
  std::string text = nexuml::read_text_file(path.string(), problems, most_table_bytes);
  if (!problems.has_errors()) return text;
  nexuml::Diagnostics explained;
  for (nexuml::Diagnostic diagnostic : problems) {
    if (std::filesystem::path(source.path).is_relative())
      diagnostic.hint = fmt::format(
          "relative paths of data are read from the folder of the scenario file, or from "
          "NEXUML_DATA_ROOT: here {}",
          path.parent_path().string());
    explained.add(std::move(diagnostic));
  }
  throw nexuml::Error(std::move(explained));
}

void check_shape(const CsvSource& source, const CsvColumns& columns, const nexuml::Where& where) {
  if (!source.shape) return;
  const std::int64_t wanted = nexuml::element_count(*source.shape);
  if (wanted != static_cast<std::int64_t>(columns.features.size()))
    throw nexuml::Error("E833",
                        fmt::format("`shape` {} holds {} numbers, and {} columns are features",
                                    nexuml::to_string(*source.shape), wanted, columns.features.size()),
                        where, "correct `shape` or `features`");
}

void warn_of_missing_header(const CsvSource& source, const CsvReader& reader, const CsvRow& header,
                            const nexuml::DataContext& context) {
  if (source.header && source.features.empty() && looks_numeric(header) && context.advice)
    context.advice->warning("W833", "every column name is a number: no header?", reader.where(header)).hint =
        "set header: false where the first line holds data";
}

void check_choices(const CsvSource& source, nexuml::RuleProblems& problems) {
  if (source.delimiter.size() != 1 || source.delimiter == "\"" || source.delimiter == "\n" ||
      source.delimiter == "\r")
    problems.add("delimiter", "one character is expected, such as ',' or ';' or \"\\t\"");
  if (source.decimal == source.delimiter)
    problems.add("decimal", "decimal and delimiter are the same character");
  if (!source.label && !source.classes.empty()) problems.add("classes", "classes need a `label` column");
  if (source.label_type == CsvSource::Label::number && !source.classes.empty())
    problems.add("classes", "a label of numbers has no classes");
  if (std::set<std::string>(source.classes.begin(), source.classes.end()).size() != source.classes.size())
    problems.add("classes", "a class is listed twice");
  if (!source.anomalies.empty() &&
      (!source.label || source.label_type == CsvSource::Label::number || source.split))
    problems.add("anomalies", "anomalies need a `label` column of classes, and no `split` column");
  if (source.path.empty()) problems.add("path", "a path is expected, found an empty text");
}

}  // namespace

void CsvSource::describe(nexuml::Schema<CsvSource>& s) {
  s.summary(
      "A table of numbers in a text file, with an optional column of labels and of splits; held in memory.\n"
      "shape: features [rows, columns] or [rows, *shape] float32; label [rows] int64 or float32");
  s.field("path", &CsvSource::path).doc("The file; relative to the data root.").required();
  s.field("features", &CsvSource::features)
      .doc("Columns by name, or ranges `first..last`; empty: all but label and split.");
  s.field("label", &CsvSource::label).doc("Column of labels.");
  s.field("label_type", &CsvSource::label_type)
      .doc("classes: texts or whole numbers, sorted and numbered from 0; number: a value to predict.");
  s.field("classes", &CsvSource::classes)
      .doc("All labels in their order; empty: those of the training rows, sorted.");
  s.field("anomalies", &CsvSource::anomalies)
      .doc(
          "Labels that are anomalies: their rows only test, all others are divided, and a second label tells "
          "them apart as 1 and 0.");
  s.field("split", &CsvSource::split).doc("Column that holds train, val, test, fit or all.");
  s.field("header", &CsvSource::header)
      .doc("Whether the first line names the columns; else they are column_1, column_2 and so on.");
  s.field("delimiter", &CsvSource::delimiter).doc("One character between cells.");
  s.field("decimal", &CsvSource::decimal).doc("Mark of the fraction in numbers.").one_of({".", ","});
  s.field("scale", &CsvSource::scale).doc("Factor of every feature.");
  s.field("shape", &CsvSource::shape).doc("Shape of one sample; null for one dimension.").at_least(1);
  s.field("feature_key", &CsvSource::feature_key).doc("Key of the features.");
  s.field("label_key", &CsvSource::label_key).doc("Key of the labels.");
  s.field("anomaly_key", &CsvSource::anomaly_key).doc("Key of the label that tells anomalies.");
  s.check(check_choices);
}

// Without a shape, ranges and "all others" are known only from the file.
nexuml::DataDeclaration CsvSource::declare() const {
  nexuml::DataDeclaration declared;
  const bool ranges = std::any_of(features.begin(), features.end(), [](const std::string& entry) {
    return entry.find("..") != std::string::npos;
  });
  const std::int64_t columns =
      features.empty() || ranges ? nexuml::unknown_size : static_cast<std::int64_t>(features.size());
  declared.features[feature_key] = {shape.value_or(nexuml::Shape{columns}), nexuml::DType::float32};
  if (!label) return declared;
  const bool is_class = label_type == Label::classes;
  declared.labels[label_key] = {{}, is_class ? nexuml::DType::int64 : nexuml::DType::float32};
  if (!anomalies.empty()) {
    declared.labels[anomaly_key] = {{}, nexuml::DType::int64};
    declared.num_classes[anomaly_key] = 2;
  }
  if (!classes.empty()) declared.num_classes[label_key] = static_cast<std::int64_t>(classes.size());
  return declared;
}

std::shared_ptr<nexuml::Dataset> CsvSource::build(const nexuml::DataContext& context) const {
  const std::filesystem::path file = context.resolve(path);
  const std::string text = read_file(*this, file);
  CsvReader reader(text, {.file = file.string(), .delimiter = delimiter.front()});
  CsvRow row;
  if (!reader.next(row))
    throw nexuml::Error("E833", "an empty file; a header and rows are expected",
                        nexuml::Where::in_file(file.string()), "check that it is the right file");
  const CsvColumns columns = csv_columns(*this, reader, row);
  check_shape(*this, columns, reader.where(row));
  warn_of_missing_header(*this, reader, row, context);

  CsvTable table(*this, reader, columns);
  bool any = !header;
  if (any) table.add(row);
  while (reader.next(row)) {
    if (context.stop.stop_requested())
      throw nexuml::Error("E833", "reading was stopped before its end",
                          nexuml::Where::in_file(file.string()));
    table.add(row);
    any = true;
  }
  if (!any)
    throw nexuml::Error("E833", "the file holds a header and no rows", nexuml::Where::in_file(file.string()));
  return table.finish();
}

}  // namespace nexuml_library
