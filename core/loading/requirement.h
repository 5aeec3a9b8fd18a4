// Libraries that a library needs: `org.nexuml.std`, or with a rule `org.nexuml.std >=1.0 <2`.
#pragma once

#include <string_view>
#include <vector>

#include "registry/catalog.h"

namespace nexuml {

// Whether a version meets a rule: terms `>=1`, `>1`, `<2`, `<=2`, `=1.4` that must all hold. An empty rule is
// met.
bool version_meets(std::string_view version, std::string_view rule);

// `library` and everything that it needs, directly or through others, in the order in which they are opened.
// Empty after a report: E503 one is missing or cannot be used, E504 a circle, with every library on it, E505
// a version that does not meet the rule. Opens nothing.
std::vector<const DeclaredLibrary*> opening_order(const DeclaredLibrary& library, const Catalog& catalog,
                                                  Diagnostics& problems);

}  // namespace nexuml
