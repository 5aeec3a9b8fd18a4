#pragma once

#include <string>

#include "host/session.h"

namespace nexuml {

// Whether a subject is meant as a file rather than a name: it ends in .yaml, .yml or .json, or has a slash.
bool is_scenario_file(const std::string& subject);

// Outline of a scenario file: stages and layers with their keys, data, losses.
void inspect_scenario_file(Session& session, const std::string& path);

}  // namespace nexuml
