// Blocks that a scenario may hold and that this version reads but does not carry out.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

namespace nexuml {

enum class ScenarioWork { build, train, evaluate };

// Names each such block of a checked scenario with its place (E737): a warning where the numbers are the same
// without it, an error otherwise. Unknown callbacks, loaders and other names are found by check_scenario.
NEXUML_EXPORT void report_not_carried_out(const Value& scenario, ScenarioWork work, Diagnostics& problems);

}  // namespace nexuml
