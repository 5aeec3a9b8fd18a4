// What a scenario names: the libraries that have to be opened for it are those that declare these.
//
//     RequiredComponents needed = required_components(scenario, catalog);
#pragma once

#include <nexuml/identity.h>
#include <nexuml/schema_node.h>

#include <compare>
#include <set>
#include <string>

namespace nexuml {

struct RequiredTarget {
  TargetKind kind = TargetKind::module;
  std::string spelling;  // as the document writes it

  auto operator<=>(const RequiredTarget&) const = default;
};

struct RequiredComponents {
  std::set<Identity> definitions;
  std::set<RequiredTarget> targets;
};

// `scenario` was checked with `names`. Definitions and targets inside parameters and arguments are included;
// the writer only where preprocessing is enabled.
NEXUML_EXPORT RequiredComponents required_components(const Value& scenario, const Names& names);

}  // namespace nexuml
