// Bytes and characters: what the readers, the writers and the messages share.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nexuml {

// One character of a UTF-8 text; `size` is 0 where the bytes are not valid UTF-8 (overlong forms and
// surrogates included).
struct Character {
  char32_t code = 0;
  unsigned size = 0;
};
Character decode_utf8(std::string_view text, std::size_t at) noexcept;
void append_utf8(std::string& out, char32_t code);

// Line and column (bytes), both from 1. A line ends with \n, \r\n or \r.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};
Place place_at(std::string_view text, std::size_t offset) noexcept;

// `text` fit for one line of a message: control characters escaped, cut after about `longest` bytes.
std::string shown(std::string_view text, std::size_t longest = 60);

enum class Dialect { yaml, json };

// What the encoding check leaves to the parser.
struct CheckedText {
  bool valid = false;
  bool ascii = true;      // columns in characters and in bytes agree
  std::string_view body;  // without a byte order mark
};

// Refuses what no parser should meet: too many bytes (E705), UTF-16, invalid UTF-8, control characters
// (E702).
CheckedText check_text(std::string_view text, Dialect dialect, const std::shared_ptr<const std::string>& file,
                       const DocumentLimits& limits, Diagnostics& problems);

}  // namespace nexuml
