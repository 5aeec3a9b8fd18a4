#include "data/merged_labels.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace nexuml {

namespace {

using Texts = std::vector<std::string>;
using Cell = std::optional<std::string>;  // nothing: the row has no value

Where at_rule(const std::string& label) {
  Where where;
  where.key_path = "data.merge_labels." + label;
  return where;
}

Cell number_cell(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return value == std::floor(value) && std::abs(value) < 1e15
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : fmt::format("{}", value);
}

std::vector<Cell> column_cells(const at::Tensor& numbers) {
  const at::Tensor values = numbers.to(at::kCPU, at::kDouble).flatten().contiguous();
  std::vector<Cell> cells;
  cells.reserve(static_cast<std::size_t>(values.numel()));
  for (std::int64_t i = 0; i < values.numel(); ++i)
    cells.push_back(number_cell(values.const_data_ptr<double>()[i]));
  return cells;
}

std::vector<Cell> column_cells(const MetadataColumn& column) {
  if (const auto* numbers = std::get_if<at::Tensor>(&column)) return column_cells(*numbers);
  std::vector<Cell> cells;
  for (const std::string& text : std::get<Texts>(column)) cells.push_back(text.empty() ? Cell() : Cell(text));
  return cells;
}

// A label of every row; reads the whole dataset once.
at::Tensor label_of_all_rows(const Dataset& dataset, const std::string& label) {
  constexpr std::int64_t rows_at_once = 4096;
  std::vector<at::Tensor> parts;
  std::vector<std::int64_t> rows;
  for (std::int64_t begin = 0; begin < dataset.size(); begin += rows_at_once) {
    rows.resize(static_cast<std::size_t>(std::min(rows_at_once, dataset.size() - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    parts.push_back(dataset.gather(rows).y->get(label));
  }
  return at::cat(parts);
}

// The columns that rules may name, each read once.
class ColumnReader {
 public:
  explicit ColumnReader(const Dataset& dataset) : dataset_(dataset), metadata_(dataset.metadata()) {}

  const std::vector<Cell>& column(const std::string& name, const std::string& label) {
    if (const auto known = read_.find(name); known != read_.end()) return known->second;
    if (const MetadataColumn* found = metadata_.find(name)) return read_[name] = column_cells(*found);
    const OrderedMap<TensorSpec> labels = dataset_.labels();
    if (const TensorSpec* found = labels.find(name); found && element_count(found->shape) == 1)
      return read_[name] = column_cells(label_of_all_rows(dataset_, name));
    refuse(name, label, labels);
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& label,
                           const OrderedMap<TensorSpec>& labels) const {
    std::vector<std::string> names;
    for (const auto& [key, column] : metadata_) names.push_back(key);
    for (const auto& [key, spec] : labels) names.push_back(key);
    throw Error(
        "E834",
        fmt::format("the label '{}' is merged of a column '{}', which the data does not have; it has {}",
                    label, name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
        at_rule(label), did_you_mean(name, names));
  }

  const Dataset& dataset_;
  const OrderedMap<MetadataColumn> metadata_;
  std::map<std::string, std::vector<Cell>> read_;
};

struct MergedLabel {
  at::Tensor values;
  Texts class_names;
};

MergedLabel merged_class(const MergeRule& rule, const std::string& label, std::int64_t rows,
                         ColumnReader& reader) {
  Texts columns = rule.columns;
  if (rule.include_dataset) columns.insert(columns.begin(), "dataset");
  std::vector<Cell> joined(static_cast<std::size_t>(rows), Cell(""));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::vector<Cell>& cells = reader.column(columns[i], label);
    for (std::size_t row = 0; row < joined.size(); ++row) {
      if (!joined[row] || !cells[row])
        joined[row].reset();
      else
        *joined[row] += (i > 0 ? "_" : "") + *cells[row];
    }
  }
  std::map<std::string, std::int64_t> numbers;
  for (const Cell& cell : joined)
    if (cell) numbers.emplace(*cell, 0);
  MergedLabel merged{at::empty({rows}, at::kLong), {}};
  for (auto& [text, number] : numbers) {
    number = static_cast<std::int64_t>(merged.class_names.size());
    merged.class_names.push_back(text);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const Cell& cell = joined[static_cast<std::size_t>(row)];
    merged.values.mutable_data_ptr<std::int64_t>()[row] = cell ? numbers.at(*cell) : -1;
  }
  return merged;
}

MergedLabel merged_counts(const MergeRule& rule, const std::string& label, std::int64_t rows,
                          ColumnReader& reader) {
  MergedLabel merged;
  std::map<std::string, std::int64_t> places;
  std::vector<std::vector<std::int64_t>> counted(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < counted.size(); ++row)
    for (const std::string& name : rule.columns) {
      const Cell& cell = reader.column(name, label)[row];
      if (!cell) continue;
      const auto [place, is_new] =
          places.emplace(name + "_" + *cell, static_cast<std::int64_t>(merged.class_names.size()));
      if (is_new) merged.class_names.push_back(place->first);
      counted[row].push_back(place->second);
    }
  const auto width = static_cast<std::int64_t>(merged.class_names.size());
  merged.values = at::zeros({rows, width}, at::kFloat);
  float* values = merged.values.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t place : counted[static_cast<std::size_t>(row)]) ++values[row * width + place];
  return merged;
}

class MergedLabelDataset final : public Dataset {
 public:
  MergedLabelDataset(std::shared_ptr<const Dataset> dataset, OrderedMap<MergedLabel> merged)
      : dataset_(std::move(dataset)), merged_(std::move(merged)) {}

  std::int64_t size() const override { return dataset_->size(); }
  Batch gather(std::span<const std::int64_t> indices) const override {
    Batch batch = dataset_->gather(indices);
    const at::Tensor rows = at::from_blob(const_cast<std::int64_t*>(indices.data()),
                                          {static_cast<std::int64_t>(indices.size())}, at::kLong);
    TensorDict labels;
    for (const auto& [key, label] : merged_) labels.set(key, label.values.index_select(0, rows));
    if (batch.y)
      for (const auto& [key, tensor] : *batch.y)
        if (!labels.contains(key)) labels.set(key, tensor);
    batch.y = std::move(labels);
    return batch;
  }
  OrderedMap<TensorSpec> features() const override { return dataset_->features(); }
  OrderedMap<TensorSpec> labels() const override {
    OrderedMap<TensorSpec> specs;
    for (const auto& [key, label] : merged_)
      specs[key] = {label.values.sizes().slice(1).vec(), dtype_of(label.values.scalar_type())};
    return with_rest(std::move(specs), dataset_->labels());
  }
  OrderedMap<std::int64_t> num_classes() const override {
    OrderedMap<std::int64_t> counts;
    for (const auto& [key, label] : merged_)
      counts[key] = static_cast<std::int64_t>(label.class_names.size());
    return with_rest(std::move(counts), dataset_->num_classes());
  }
  OrderedMap<Texts> class_names() const override {
    OrderedMap<Texts> names;
    for (const auto& [key, label] : merged_) names[key] = label.class_names;
    return with_rest(std::move(names), dataset_->class_names());
  }
  Texts splits() const override { return dataset_->splits(); }
  OrderedMap<MetadataColumn> metadata() const override { return dataset_->metadata(); }
  std::vector<std::filesystem::path> files() const override { return dataset_->files(); }

 private:
  template <class T>
  static OrderedMap<T> with_rest(OrderedMap<T> first, const OrderedMap<T>& rest) {
    for (const auto& [key, value] : rest)
      if (!first.contains(key)) first[key] = value;
    return first;
  }

  const std::shared_ptr<const Dataset> dataset_;
  const OrderedMap<MergedLabel> merged_;
};

bool flag_of(const Value& value, const std::string& label, const std::string& name) {
  if (value.is_boolean()) return value.as_boolean();
  throw Error("E834",
              fmt::format("'{}' of a merged label should be true or false, found {}", name,
                          describe_for_message(value)),
              at_rule(label));
}

Texts columns_of(const Value& value, const std::string& label) {
  Texts columns;
  if (value.is_string()) return {value.as_string()};
  if (value.is_list())
    for (const Value& item : value.items())
      if (item.is_string()) columns.push_back(item.as_string());
  if (columns.empty() || columns.size() != value.size())
    throw Error("E834",
                fmt::format("'columns' of a merged label should be a list of names, found {}",
                            describe_for_message(value)),
                at_rule(label));
  return columns;
}

}  // namespace

OrderedMap<MergeRule> merge_rules(const OrderedMap<OrderedMap<Value>>& written) {
  OrderedMap<MergeRule> rules;
  for (const auto& [label, fields] : written) {
    MergeRule rule;
    for (const auto& [name, value] : fields) {
      if (name == "columns")
        rule.columns = columns_of(value, label);
      else if (name == "logits")
        rule.logits = flag_of(value, label, name);
      else if (name == "include_dataset")
        rule.include_dataset = flag_of(value, label, name);
      else
        throw Error("E834", fmt::format("a merged label has no field '{}'", name), at_rule(label),
                    did_you_mean(name, {"columns", "logits", "include_dataset"}));
    }
    if (rule.columns.empty())
      throw Error("E834", "a merged label needs 'columns'", at_rule(label),
                  "list the columns of the metadata that it is made of");
    rules[label] = std::move(rule);
  }
  return rules;
}

std::shared_ptr<const Dataset> merge_labels(std::shared_ptr<const Dataset> dataset,
                                            const OrderedMap<MergeRule>& rules) {
  if (rules.empty()) return dataset;
  ColumnReader reader(*dataset);
  OrderedMap<MergedLabel> merged;
  for (const auto& [label, rule] : rules)
    merged[label] = rule.logits ? merged_counts(rule, label, dataset->size(), reader)
                                : merged_class(rule, label, dataset->size(), reader);
  return std::make_shared<const MergedLabelDataset>(std::move(dataset), std::move(merged));
}

}  // namespace nexuml
