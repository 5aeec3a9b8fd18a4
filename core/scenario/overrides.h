// Overrides: values of a scenario given on the command line, and parameters of a scenario function.
//
//     -O training.lr=0.01
//     -O pipeline.stages.Encoder[0].component.params.hidden_dims=[32, 16]
//     -O logging=null
//     -O 'name="5"'                       quotes keep a text a text
//     -O 'training.loss_keys."a.b"=0.5'   a key with a dot stands in quotes
//
// A value is a plain scalar of YAML 1.2, a quoted text, or a list or map in flow style. Where the schema
// wants text, an unquoted value is text: name=5. New keys go into open maps (kwargs, loss_keys, meta_in) and
// only as the last part of a path. Blocks that the document leaves out start from their defaults.
#pragma once

#include <nexuml/schema_node.h>
#include <nexuml/value.h>

#include <string>
#include <vector>

namespace nexuml {

// Changes `document`, which is not checked yet, in the order given. Problems: E720 for what cannot be read,
// E721 for a path that does not exist, naming the nearest key. Positions name the override:
// `-O training.lr`, line 1, column in the text of the override. `names` may be null.
NEXUML_EXPORT void apply_overrides(Value& document, const StructNode& schema,
                                   const std::vector<std::string>& overrides, const Names* names,
                                   Diagnostics& problems);

// The checked parameters of a scenario function from `-P name=value`.
NEXUML_EXPORT Value read_parameters(const std::vector<std::string>& assignments, const StructNode& parameters,
                                    Diagnostics& problems);

}  // namespace nexuml
