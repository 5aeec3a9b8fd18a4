// Base64 of RFC 4648: one text for each sequence of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml::tensor_io {

std::string to_base64(std::span<const std::byte> bytes);
// Nothing for a text that `to_base64` never gives: blanks, a wrong end, stray bits.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace nexuml::tensor_io
