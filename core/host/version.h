#pragma once

namespace nexuml {

inline constexpr const char* host_version = NEXUML_VERSION;

}  // namespace nexuml
