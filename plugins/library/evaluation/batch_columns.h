// What is known of each sample of a batch, as text: for grouping.
#pragma once

#include <nexuml/evaluation.h>

#include <string>
#include <vector>

namespace nexuml_library {

// One text a sample: a label (class numbers by their names, where the data has them), a metadata column, or a
// feature of one number. `source` (x, y or metadata) asks for one of them; empty: y, then metadata, then x.
// Throws nexuml::Error E851 naming the algorithm and what there is.
std::vector<std::string> column_texts(const nexuml::EvalBatch& batch, const nexuml::EvalBuildContext& context,
                                      const std::string& key, const std::string& source = {});

// The source that the scenario's `axis_keys` give for `key`; empty where they do not name it.
std::string axis_source(const nexuml::EvalBuildContext& context, const std::string& key);

}  // namespace nexuml_library
