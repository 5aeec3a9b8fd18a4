// The shipped libraries of this build, loaded as the host loads them.
#pragma once

#include <nexuml/registry.h>

#include <catch2/catch.hpp>

#include "discovery/discover.h"
#include "loading/library_loader.h"

namespace library_tests {

inline const nexuml::ComponentRegistry& shipped_registry() {
  static const nexuml::ComponentRegistry registry = [] {
    nexuml::Environment environment = nexuml::process_environment();
    environment.host_prefix = NEXUML_BUILD_ROOT;
    environment.components_dir = NEXUML_COMPONENTS_ROOT;
    environment.variables.clear();
    nexuml::LibraryLoader loader(nexuml::discover({.builtin_only = true}, environment), environment);
    nexuml::Diagnostics problems;
    loader.load_all(problems);
    INFO(problems.to_text());
    REQUIRE(problems.empty());
    return loader.registry();
  }();
  return registry;
}

}  // namespace library_tests
