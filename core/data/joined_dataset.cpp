#include "data/joined_dataset.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

namespace nexuml {

namespace {

void require_same_specs(const OrderedMap<TensorSpec>& expected, const OrderedMap<TensorSpec>& found,
                        const std::string& expected_name, const std::string& found_name) {
  const auto fail = [&](const std::string& key, const TensorSpec* left, const TensorSpec* right) {
    const auto text = [](const TensorSpec* spec) { return spec ? to_string(*spec) : std::string("nothing"); };
    throw Error("E834",
                fmt::format("datasets cannot be joined: for key '{}', '{}' gives {} and '{}' gives {}", key,
                            expected_name, text(left), found_name, text(right)));
  };
  for (const auto& [key, spec] : expected)
    if (const TensorSpec* other = found.find(key); !other || *other != spec) fail(key, &spec, other);
  for (const auto& [key, spec] : found)
    if (!expected.contains(key)) fail(key, nullptr, &spec);
}

TensorDict joined_rows(const std::vector<TensorDict>& pieces, const at::Tensor& places) {
  TensorDict result;
  for (const auto& [key, first] : pieces.front()) {
    std::vector<at::Tensor> rows;
    rows.reserve(pieces.size());
    for (const TensorDict& piece : pieces) rows.push_back(piece.get(key));
    result.set(key, at::cat(rows).index_select(0, places));
  }
  return result;
}

MetadataColumn joined_column(const std::vector<const MetadataColumn*>& columns) {
  if (std::holds_alternative<at::Tensor>(*columns.front())) {
    std::vector<at::Tensor> rows;
    for (const MetadataColumn* column : columns) rows.push_back(std::get<at::Tensor>(*column));
    return at::cat(rows);
  }
  std::vector<std::string> rows;
  for (const MetadataColumn* column : columns) {
    const auto& texts = std::get<std::vector<std::string>>(*column);
    rows.insert(rows.end(), texts.begin(), texts.end());
  }
  return rows;
}

}  // namespace

JoinedDataset::JoinedDataset(std::vector<Part> parts) : parts_(std::move(parts)) {
  begins_.push_back(0);
  const Part& first = parts_.front();
  for (const Part& part : parts_) {
    require_same_specs(first.dataset->features(), part.dataset->features(), first.name, part.name);
    require_same_specs(first.dataset->labels(), part.dataset->labels(), first.name, part.name);
    if (part.dataset->class_names() != first.dataset->class_names())
      throw Error("E834", fmt::format("datasets '{}' and '{}' name the classes of a label differently",
                                      first.name, part.name));
    begins_.push_back(begins_.back() + part.dataset->size());
  }
}

std::size_t JoinedDataset::part_of(std::int64_t row) const {
  return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), row) - begins_.begin()) -
         1;
}

Batch JoinedDataset::gather(std::span<const std::int64_t> indices) const {
  std::vector<std::vector<std::int64_t>> rows(parts_.size()), wanted(parts_.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t part = part_of(indices[i]);
    rows[part].push_back(indices[i] - begins_[part]);
    wanted[part].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<TensorDict> x, y;
  std::vector<std::int64_t> places(indices.size());  // where row i of the batch lies in the pieces end to end
  std::int64_t gathered = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    if (rows[part].empty()) continue;
    Batch piece = parts_[part].dataset->gather(rows[part]);
    x.push_back(std::move(piece.x));
    if (piece.y) y.push_back(*std::move(piece.y));
    for (const std::int64_t row : wanted[part]) places[static_cast<std::size_t>(row)] = gathered++;
  }
  const at::Tensor order = at::tensor(places, at::kLong);
  Batch batch;
  batch.x = joined_rows(x, order);
  if (!y.empty()) batch.y = joined_rows(y, order);
  return batch;
}

OrderedMap<std::int64_t> JoinedDataset::num_classes() const {
  OrderedMap<std::int64_t> counts;
  for (const Part& part : parts_)
    for (const auto& [label, count] : part.dataset->num_classes())
      counts[label] = std::max(counts[label], count);
  return counts;
}

OrderedMap<std::vector<std::string>> JoinedDataset::class_names() const {
  return parts_.front().dataset->class_names();
}

OrderedMap<MetadataColumn> JoinedDataset::metadata() const {
  std::vector<OrderedMap<MetadataColumn>> all;
  for (const Part& part : parts_) all.push_back(part.dataset->metadata());
  OrderedMap<MetadataColumn> joined;
  for (const auto& [name, first] : all.front()) {
    std::vector<const MetadataColumn*> columns;
    for (const auto& one : all)
      if (const MetadataColumn* column = one.find(name); column && column->index() == first.index())
        columns.push_back(column);
    if (columns.size() == parts_.size()) joined[name] = joined_column(columns);
  }
  std::vector<std::string> names;
  for (const Part& part : parts_)
    names.insert(names.end(), static_cast<std::size_t>(part.dataset->size()), part.name);
  joined["dataset"] = std::move(names);
  return joined;
}

std::vector<std::filesystem::path> JoinedDataset::files() const {
  std::vector<std::filesystem::path> all;
  for (const Part& part : parts_) {
    const auto files = part.dataset->files();
    if (files.empty()) return {};
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

}  // namespace nexuml
