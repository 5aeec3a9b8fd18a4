// The order of version texts: numbers by value, a pre-release before its release.
#pragma once

#include <string_view>

namespace nexuml {

// 1.9 < 1.10 < 2.0-rc1 < 2.0; unknown texts by their bytes.
bool version_less(std::string_view left, std::string_view right) noexcept;

}  // namespace nexuml
