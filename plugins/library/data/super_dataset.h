// SuperDataset: a data source made of others, which may be made of others themselves.
//
//     source: {type: SuperDataset, version: '1', params: {datasets: [{source: {...}}, {source: {...}}]}}
#pragma once

#include <nexuml/scenario.h>

#include <memory>
#include <optional>
#include <vector>

namespace nexuml_library {

// Shape: as the samples of its parts, which have to agree.
struct SuperDataset {
  std::vector<nexuml::DatasetSpec> datasets = {};
  std::optional<nexuml::OrderedMap<nexuml::OrderedMap<nexuml::Value>>> merge_labels = std::nullopt;

  static void describe(nexuml::Schema<SuperDataset>& s);
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
