// Whether this program was built with a sanitizer, for what it makes slower or larger.
#pragma once

#include <nexuml/abi.h>

namespace nexuml::test {

// A literal of the ABI tag: ";sanitizer-address", or empty.
inline constexpr bool kSanitized = sizeof(NEXUML_ABI_SANITIZER) > 1;
// Limits on time hold for a plain build; a sanitizer checks every access and takes up to this much longer.
inline constexpr double kSlowdown = kSanitized ? 20 : 1;

}  // namespace nexuml::test
