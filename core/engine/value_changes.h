// Where two documents differ, leaf by leaf.
#pragma once

#include <nexuml/value.h>

#include <string>
#include <vector>

namespace nexuml {

// "training.max_epochs: integer 3, now integer 8" for each leaf that differs.
std::vector<std::string> value_changes(const Value& before, const Value& now);

}  // namespace nexuml
