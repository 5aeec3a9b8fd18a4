// SHA-256 by the library that the system has for it.
#pragma once

#include <array>
#include <string_view>

namespace nexuml {

std::array<unsigned char, 32> sha256(std::string_view bytes);

}  // namespace nexuml
