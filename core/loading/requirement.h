// Libraries that a library needs: `org.nexuml.std`, or with a rule `org.nexuml.std >=1.0 <2`.
#pragma once

#include <functional>
#include <string_view>

#include "registry/catalog.h"

namespace nexuml {

// Whether a version meets a rule: terms `>=1`, `>1`, `<2`, `<=2`, `=1.4` that must all hold. An empty rule is
// met.
bool version_meets(std::string_view version, std::string_view rule);

// Loads what `library` needs. E503 missing, E504 a cycle, E505 a version that does not meet the rule.
bool load_requirements(const DeclaredLibrary& library, const Catalog& catalog,
                       const std::function<bool(const DeclaredLibrary&)>& is_loading,
                       const std::function<bool(const DeclaredLibrary&)>& load, Diagnostics& problems);

}  // namespace nexuml
