// Whether a library registered what its manifest declares.
#pragma once

#include <nexuml/registration.h>

#include "registry/catalog.h"

namespace nexuml {

// E502, one report for a library, naming what is missing, what is extra and whose fields differ. A library
// without a manifest declares nothing to compare with.
bool agrees_with_manifest(const StagedRegistration& staged, const DeclaredLibrary& library,
                          Diagnostics& problems);

}  // namespace nexuml
