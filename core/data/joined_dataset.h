// Several datasets end to end, as one.
#pragma once

#include <nexuml/data.h>

#include <memory>
#include <string>
#include <vector>

namespace nexuml {

class JoinedDataset final : public Dataset {
 public:
  struct Part {
    std::string name;  // of its data source: `synthetic`, `synthetic#1`
    std::shared_ptr<const Dataset> dataset;
  };

  // Throws Error E834 when the parts give different keys, shapes, dtypes or class names.
  explicit JoinedDataset(std::vector<Part> parts);

  std::int64_t size() const override { return begins_.back(); }
  Batch gather(std::span<const std::int64_t> indices) const override;
  OrderedMap<TensorSpec> features() const override { return parts_.front().dataset->features(); }
  OrderedMap<TensorSpec> labels() const override { return parts_.front().dataset->labels(); }
  OrderedMap<std::int64_t> num_classes() const override;
  OrderedMap<std::vector<std::string>> class_names() const override;
  // The columns that all parts have, and `dataset`: the name of the part.
  OrderedMap<MetadataColumn> metadata() const override;
  // Empty where one of the parts names none.
  std::vector<std::filesystem::path> files() const override;

 private:
  std::size_t part_of(std::int64_t row) const;

  std::vector<Part> parts_;
  std::vector<std::int64_t> begins_;  // first row of each part, then the total
};

}  // namespace nexuml
