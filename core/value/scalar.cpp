#include "value/scalar.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "value/text.h"

namespace nexuml {
namespace {

constexpr std::string_view decimal_digits = "0123456789";

// Walks over a scalar; each `take` reports whether it consumed anything.
struct ScalarCursor {
  std::string_view rest;

  bool take_one(std::string_view set) {
    if (rest.empty() || set.find(rest.front()) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
  bool take_all(std::string_view set) {
    const std::size_t end = std::min(rest.find_first_not_of(set), rest.size());
    rest.remove_prefix(end);
    return end != 0;
  }
  bool take(std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  }
  bool done() const { return rest.empty(); }
};

// Lower, Title and UPPER are the three spellings that the schemas list; `word` is lower case.
bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  bool lower = true, title = true, upper = true;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool letter = word[i] >= 'a' && word[i] <= 'z';
    const char capital = letter ? static_cast<char>(word[i] - 'a' + 'A') : word[i];
    const bool first_letter = i == 0 || (i == 1 && word[0] == '.');
    lower = lower && text[i] == word[i];
    title = title && text[i] == (first_letter ? capital : word[i]);
    upper = upper && text[i] == capital;
  }
  return lower || title || upper;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || is_word(text, "null");
}

bool is_infinity_or_nan(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  return is_word(text, ".inf");
}

bool is_core_integer(std::string_view text) {
  ScalarCursor cursor{text};
  cursor.take_one("+-");
  return cursor.take_all(decimal_digits) && cursor.done();
}

bool is_core_number(std::string_view text) {
  ScalarCursor cursor{text};
  cursor.take_one("+-");
  if (cursor.take_all(decimal_digits)) {
    if (cursor.take(".")) cursor.take_all(decimal_digits);
  } else if (!cursor.take(".") || !cursor.take_all(decimal_digits)) {
    return false;
  }
  if (cursor.take_one("eE")) {
    cursor.take_one("+-");
    if (!cursor.take_all(decimal_digits)) return false;
  }
  return cursor.done();
}

// 0 for a decimal integer or none at all, else the radix of `0x1F` and `0o17`.
int prefixed_radix(std::string_view text) {
  ScalarCursor cursor{text};
  if (cursor.take("0x")) return cursor.take_all("0123456789abcdefABCDEF") && cursor.done() ? 16 : 0;
  if (cursor.take("0o")) return cursor.take_all("01234567") && cursor.done() ? 8 : 0;
  return 0;
}

ResolvedScalar read_integer(std::string_view digits, int radix) {
  if (digits.front() == '+') digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  if (result.ec != std::errc()) return {{}, ScalarProblem::integer_range};
  return {Value(value), ScalarProblem::none};
}

// A number too near to zero for a double is zero; one too large is a problem. `text` is known to be a number
// whose value no double holds, so the decimal exponent of its first digit decides.
bool is_tiny(std::string_view text) {
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, exponent_at);
  if (mantissa.find_first_of("123456789") == std::string_view::npos) return true;
  if (exponent_at < text.size()) return text[exponent_at + 1] == '-';
  const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
  return mantissa.substr(0, dot).find_first_of("123456789") == std::string_view::npos;
}

ResolvedScalar read_number(std::string_view text) {
  std::string_view unsigned_text = text;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc() && std::isfinite(value)) return {Value(value), ScalarProblem::none};
  if (!is_tiny(unsigned_text)) return {{}, ScalarProblem::number_range};
  return {Value(text.front() == '-' ? -0.0 : 0.0), ScalarProblem::none};
}

// [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} with anything a time may hold behind it.
bool is_date_like(std::string_view text) {
  ScalarCursor cursor{text};
  for (int i = 0; i < 4; ++i) {
    if (!cursor.take_one(decimal_digits)) return false;
  }
  for (int part = 0; part < 2; ++part) {
    if (!cursor.take("-") || !cursor.take_one(decimal_digits)) return false;
    cursor.take_one(decimal_digits);
  }
  if (cursor.done()) return true;
  return cursor.take_one("Tt \t") &&
         cursor.rest.find_first_not_of("0123456789:.+-Zz \t") == std::string_view::npos;
}

// Numbers of YAML 1.1, its base 60, its underscores and octals included, and those of ruamel's 1.2.
bool is_number_like(std::string_view text) {
  ScalarCursor cursor{text};
  cursor.take_one("+-");
  const std::string_view magnitude = cursor.rest;
  if (is_word(magnitude, ".inf") || is_word(magnitude, ".nan") || magnitude == ".NaN") return true;
  for (const auto& [prefix, digits] :
       {std::pair{"0b", "01_"}, {"0o", "01234567_"}, {"0x", "0123456789abcdefABCDEF_"}}) {
    ScalarCursor radix{magnitude};
    if (radix.take(prefix)) return radix.take_all(digits) && radix.done();
  }
  if (cursor.take_one(decimal_digits)) {
    cursor.take_all("0123456789_");
    while (cursor.take(":")) {
      if (!cursor.take_one(decimal_digits)) return false;
      cursor.take_one(decimal_digits);
    }
    if (cursor.take(".")) cursor.take_all("0123456789_");
  } else if (!cursor.take(".") || !cursor.take_all("0123456789_")) {
    return false;
  }
  if (cursor.take_one("eE")) {
    cursor.take_one("+-");
    if (!cursor.take_all(decimal_digits)) return false;
  }
  return cursor.done();
}

}  // namespace

ResolvedScalar resolve_plain_scalar(std::string_view text) {
  if (is_null(text)) return {};
  if (is_word(text, "true")) return {Value(true), ScalarProblem::none};
  if (is_word(text, "false")) return {Value(false), ScalarProblem::none};
  const char first = text.front();
  const bool may_be_number = (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
  if (may_be_number) {
    if (is_core_integer(text)) return read_integer(text, 10);
    if (const int radix = prefixed_radix(text)) return read_integer(text.substr(2), radix);
    if (is_core_number(text)) return read_number(text);
    if (is_infinity_or_nan(text)) return {{}, ScalarProblem::not_finite};
  }
  return {Value(text), ScalarProblem::none};
}

ScalarProblemText explain(ScalarProblem problem, std::string_view text) {
  switch (problem) {
    case ScalarProblem::not_finite:
      return {"E716", fmt::format("finite number expected, got {}: not JSON-safe", shown(text)),
              "write a finite number, or put quotes around a text"};
    case ScalarProblem::integer_range:
      return {"E713",
              fmt::format("integer {} is out of range: {} to {} can be held", shown(text),
                          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()),
              "write a smaller integer, or put quotes around a text"};
    case ScalarProblem::number_range:
      return {
          "E713",
          fmt::format("number {} is out of range: a double holds up to 1.7976931348623157e+308", shown(text)),
          "write a smaller number, or put quotes around a text"};
    case ScalarProblem::none:
      break;
  }
  return {"", "", ""};
}

bool reads_as_text_everywhere(std::string_view text) {
  if (is_null(text) || text == "=" || text == "<<") return false;
  for (const char* word : {"true", "false", "yes", "no", "on", "off", "y", "n"}) {
    if (is_word(text, word)) return false;
  }
  return !is_number_like(text) && !is_date_like(text);
}

std::string number_to_text(double value) {
  std::array<char, 40> buffer;
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view scientific(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t exponent_at = scientific.find('e');
  int exponent = 0;
  const std::size_t exponent_digits = exponent_at + (scientific[exponent_at + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + exponent_digits, written.ptr, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string text(buffer.data(), fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace nexuml
