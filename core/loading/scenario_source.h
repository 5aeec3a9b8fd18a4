// From what a person names, a file or a registered scenario, to a checked document.
//
//     Value document = open_scenario(loader, {.source = "digits.yaml"}, problems);
//     if (problems.has_errors() || !loader.load_for(document, problems)) return 1;
//     ScenarioSpec spec = materialise(document, loader.registry());
#pragma once

#include <string>
#include <vector>

#include "loading/library_loader.h"

namespace nexuml {

struct ScenarioRequest {
  std::string source;                        // digits.yaml, or a name that `registry list scenarios` shows
  std::vector<std::string> overrides = {};   // key.path=value
  std::vector<std::string> parameters = {};  // name=value, only for a scenario registered from code
  bool allow_missing_eval = false;
};

// Whether a text is meant as a path: it ends in .yaml, .yml or .json, or holds a slash.
bool is_scenario_path(std::string_view text);

// The document with every default, checked against the catalog, and every problem at once. A file opens no
// library; a scenario registered from code opens its own and those whose components it asks for.
Value open_scenario(LibraryLoader& loader, const ScenarioRequest& request, Diagnostics& problems);

// The same document as it was written, with its overrides, before it is checked; null after a problem.
Value open_unchecked_scenario(LibraryLoader& loader, const ScenarioRequest& request, Diagnostics& problems);

}  // namespace nexuml
