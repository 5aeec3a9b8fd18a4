#include "data/super_dataset.h"

#include <nexuml/joined_data.h>

namespace nexuml_library {

void SuperDataset::describe(nexuml::Schema<SuperDataset>& s) {
  s.summary("Several data sets end to end, as one source; each keeps its own splits.");
  s.field("datasets", &SuperDataset::datasets).doc("As data.datasets of a scenario.").required().min_size(1);
  s.field("merge_labels", &SuperDataset::merge_labels)
      .doc("As data.merge_labels: labels made of columns of the metadata.");
}

std::shared_ptr<nexuml::Dataset> SuperDataset::build(const nexuml::DataContext& context) const {
  return nexuml::join_data(datasets, merge_labels, context);
}

}  // namespace nexuml_library
