#include "tensor_io/decimal.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nexuml::tensor_io {

std::string decimal_of_twos_complement(std::string_view bytes) {
  std::vector<std::uint8_t> magnitude(bytes.begin(), bytes.end());
  const bool negative = !magnitude.empty() && (magnitude.back() & 0x80) != 0;
  if (negative) {  // invert and add one
    unsigned carry = 1;
    for (std::uint8_t& byte : magnitude) {
      carry += static_cast<std::uint8_t>(~byte);
      byte = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }
  std::string digits;
  while (!magnitude.empty()) {  // divide by ten, the remainder is the next digit
    unsigned remainder = 0;
    for (std::size_t i = magnitude.size(); i-- > 0;) {
      const unsigned value = remainder << 8 | magnitude[i];
      magnitude[i] = static_cast<std::uint8_t>(value / 10);
      remainder = value % 10;
    }
    digits += static_cast<char>('0' + remainder);
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  if (digits.empty()) digits += '0';
  if (negative) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace nexuml::tensor_io
