// Several data sources as one, for a source that holds others.
//
//     std::shared_ptr<nexuml::Dataset> all = nexuml::join_data(datasets, merge_labels, context);
//
// Each DatasetSpec means what it means in `data.datasets`: `max_samples` takes a seeded subset, `split_type`
// says where its rows go. Rows of a source that assigns no split go to `all`: train, validation and test.
#pragma once

#include <nexuml/data.h>
#include <nexuml/export.h>
#include <nexuml/scenario.h>

#include <memory>
#include <optional>
#include <vector>

namespace nexuml {

using MergeLabels = std::optional<OrderedMap<OrderedMap<Value>>>;

// Throws Error E831 and E834, with the place inside the list.
NEXUML_EXPORT std::shared_ptr<Dataset> join_data(const std::vector<DatasetSpec>& datasets,
                                                 const MergeLabels& merge_labels, const DataContext& context);

}  // namespace nexuml
