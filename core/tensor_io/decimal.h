#pragma once

#include <string>
#include <string_view>

namespace nexuml::tensor_io {

// The decimal digits of a little-endian integer in two's complement, as pickles write large integers.
std::string decimal_of_twos_complement(std::string_view bytes);

}  // namespace nexuml::tensor_io
