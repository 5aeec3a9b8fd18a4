// What the worker can be asked beside opening a library. Each task runs in a child process and answers with a
// map that holds `diagnostics`.
#pragma once

#include <nexuml/value.h>

#include "discovery/search.h"
#include "loading/library_loader.h"

namespace nexuml {

// {"library": path, "requires": [text]}: lets the library register. The answer holds `manifest` and
// `schemas`, the texts of both files.
Value declare_library(LibraryLoader& loader, const Value& request);

// {"library": path, "search": ..., "command": text, "options": map}: a command of the engine, after the
// library and the shipped ones were loaded. The answer holds `answer` and `exit_code`.
Value run_engine_task(LibraryLoader& loader, const Value& request);

// Search options on their way to the worker.
Value search_to_value(const SearchOptions& search);
SearchOptions search_from_value(const Value& value);

}  // namespace nexuml
