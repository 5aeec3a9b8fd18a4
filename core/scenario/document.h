// Scenario documents: from a file to a checked tree, to typed specs, and back.
//
//     Diagnostics problems;
//     Value document = read_document("digits.yaml", problems);
//     apply_overrides(document, *schema_of<ScenarioSpec>(), {"training.lr=0.01"}, &catalog, problems);
//     Value scenario = check_scenario(document, {.names = &registry}, problems);
//     if (problems.has_errors()) throw Error(problems);
//     ScenarioSpec spec = materialise(scenario, registry);
//     write_yaml(scenario);                        // every default written out
//
// All but `materialise` and `lower_scenario` work from declared names alone: no library is opened.
#pragma once

#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/schema_node.h>
#include <nexuml/value.h>

#include <string>

namespace nexuml {

// The tree of a YAML file, or of a JSON file where the name ends in .json; null after a problem (E70x).
NEXUML_EXPORT Value read_document(const std::string& path, Diagnostics& problems);

struct ScenarioCheck {
  const Names* names = nullptr;     // null: names of components and targets are not looked up
  bool allow_missing_eval = false;  // unknown evaluation algorithms are left out, with a warning each
};

// Every problem at once, each with its place; the result has the fields in order and every default. Writers
// are looked up only where preprocessing is enabled.
NEXUML_EXPORT Value check_scenario(Value document, const ScenarioCheck& options, Diagnostics& problems);

// `scenario` is what check_scenario gave, perhaps from names that a manifest declares. Rules over several
// fields are not in a manifest, so it is checked once more by what is loaded: throws Error with every problem
// at its place.
NEXUML_EXPORT ScenarioSpec materialise(const Value& scenario, const ComponentRegistry& registry);

// The document of a scenario made in code, checked by the same rules; it needs a name (E711). Throws Error
// E506 for a definition that is registered nowhere.
// Targets may be named that no loaded library holds: `names` answers for those, such as the catalog.
NEXUML_EXPORT Value lower_scenario(const ScenarioSpec& scenario, const ComponentRegistry& registry,
                                   const Names& names, Diagnostics& problems);

}  // namespace nexuml
