// What was typed, checked for form. The one place that knows CLI11.
#pragma once

#include <nexuml/value.h>

#include <optional>
#include <string>

#include "discovery/search.h"

namespace nexuml {

struct Invocation {
  std::string command;  // "train", "registry list"
  SearchOptions search;
  bool json = false;
  // Everything else by the long names of the options, as core/engine/engine_entry.h says.
  Value options = Value::map();

  std::string text(std::string_view option) const;                // empty where absent
  std::vector<std::string> texts(std::string_view option) const;  // empty where absent
  bool flag(std::string_view option) const;
};

// Nothing when help or an error was printed; `exit_code` is then what the process returns (0 or 2).
std::optional<Invocation> parse_command_line(int argc, char** argv, int& exit_code);

}  // namespace nexuml
