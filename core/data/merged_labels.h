// Labels made of columns of the metadata, as `data.merge_labels` says.
//
//     merge_labels:
//       class:        {columns: [machine, target], logits: false, include_dataset: false}
//       class_logits: {columns: [machine, target], logits: true}
//
// A class joins the texts of its columns with "_"; classes are numbered from 0 in sorted order, int64 []. A
// row where one of the columns is empty or not a number has the class -1. With `logits` the label counts, in
// the order of their first appearance, the values of all columns: float32 [values].
#pragma once

#include <nexuml/data.h>

#include <memory>
#include <string>
#include <vector>

namespace nexuml {

struct MergeRule {
  std::vector<std::string> columns;
  bool logits = false;
  bool include_dataset = false;  // the name of the data source stands before the class
};

// Reads the rules of a scenario. Throws Error E834 with the place of what is wrong.
OrderedMap<MergeRule> merge_rules(const OrderedMap<OrderedMap<Value>>& written);

// `dataset` with the merged labels before its own; a label of the same name is replaced. Columns are those of
// the metadata, then the labels. Throws Error E834 naming the columns that there are.
std::shared_ptr<const Dataset> merge_labels(std::shared_ptr<const Dataset> dataset,
                                            const OrderedMap<MergeRule>& rules);

}  // namespace nexuml
