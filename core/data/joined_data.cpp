#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/joined_data.h>

#include <map>
#include <numeric>

#include "data/guard.h"
#include "data/joined_dataset.h"
#include "data/merged_labels.h"
#include "data/split.h"

namespace nexuml {

namespace {

using Rows = std::vector<std::int64_t>;

Rows first_rows(std::int64_t count) {
  Rows rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& values, const Rows& rows) {
  std::vector<T> selected;
  selected.reserve(rows.size());
  for (const std::int64_t row : rows) selected.push_back(values.at(static_cast<std::size_t>(row)));
  return selected;
}

// Some rows of a dataset, with the splits that they are given.
class ChosenRows final : public Dataset {
 public:
  ChosenRows(std::shared_ptr<const Dataset> dataset, Rows rows, std::vector<std::string> splits)
      : dataset_(std::move(dataset)), rows_(std::move(rows)), splits_(std::move(splits)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  Batch gather(std::span<const std::int64_t> indices) const override {
    Rows wanted;
    wanted.reserve(indices.size());
    for (const std::int64_t index : indices) wanted.push_back(rows_.at(static_cast<std::size_t>(index)));
    return dataset_->gather(wanted);
  }
  OrderedMap<TensorSpec> features() const override { return dataset_->features(); }
  OrderedMap<TensorSpec> labels() const override { return dataset_->labels(); }
  OrderedMap<std::int64_t> num_classes() const override { return dataset_->num_classes(); }
  OrderedMap<std::vector<std::string>> class_names() const override { return dataset_->class_names(); }
  std::vector<std::string> splits() const override { return splits_; }
  OrderedMap<MetadataColumn> metadata() const override {
    OrderedMap<MetadataColumn> columns;
    for (const auto& [name, column] : dataset_->metadata()) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&column))
        columns[name] = chosen(*texts, rows_);
      else
        columns[name] = std::get<at::Tensor>(column).index_select(0, at::tensor(rows_, at::kLong));
    }
    return columns;
  }
  std::vector<std::filesystem::path> files() const override { return dataset_->files(); }

 private:
  const std::shared_ptr<const Dataset> dataset_;
  const Rows rows_;
  const std::vector<std::string> splits_;
};

std::vector<std::string> splits_of(const Dataset& dataset, const Rows& rows, const std::string& split_type) {
  const bool follows = split_type == "fit" || split_type == "keep";
  if (!follows) return std::vector<std::string>(rows.size(), split_type);
  const std::vector<std::string> assigned = dataset.splits();
  return assigned.empty() ? std::vector<std::string>(rows.size(), "all") : chosen(assigned, rows);
}

}  // namespace

std::shared_ptr<Dataset> join_data(const std::vector<DatasetSpec>& datasets, const MergeLabels& merges,
                                   const DataContext& context) {
  if (datasets.empty()) throw Error("E831", "the list of data sets is empty; at least one is needed");
  std::vector<JoinedDataset::Part> parts;
  std::vector<std::string> splits;
  std::map<std::string, int> uses;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const DatasetSpec& spec = datasets[i];
    Where where;
    where.key_path = fmt::format("datasets[{}].source", i);
    std::string name = spec.source->schema().name;
    if (const int earlier = uses[name]++) name += fmt::format("#{}", earlier);
    std::shared_ptr<const Dataset> dataset = guarded("E831", fmt::format("the data source '{}'", name), where,
                                                     [&] { return spec.source->build(context); });
    if (!dataset || dataset->size() == 0)
      throw Error("E831", fmt::format("the data source '{}' has no samples; at least one is needed", name),
                  where);
    Rows rows = spec.max_samples && *spec.max_samples < dataset->size()
                    ? random_subset(dataset->size(), *spec.max_samples)
                    : first_rows(dataset->size());
    const std::vector<std::string> own = splits_of(*dataset, rows, spec.split_type);
    splits.insert(splits.end(), own.begin(), own.end());
    parts.push_back(
        {std::move(name), std::make_shared<const ChosenRows>(std::move(dataset), std::move(rows), own)});
  }
  std::shared_ptr<const Dataset> joined = std::make_shared<const JoinedDataset>(std::move(parts));
  if (merges) joined = merge_labels(std::move(joined), merge_rules(*merges));
  Rows all = first_rows(joined->size());
  return std::make_shared<ChosenRows>(std::move(joined), std::move(all), std::move(splits));
}

}  // namespace nexuml
