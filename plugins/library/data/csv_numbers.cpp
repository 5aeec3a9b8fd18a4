#include "data/csv_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace nexuml_library {

namespace {

std::string hint_for(std::string_view text, char decimal) {
  const auto commas = std::count(text.begin(), text.end(), ',');
  const auto points = std::count(text.begin(), text.end(), '.');
  const bool digits = text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
  if (digits && decimal == '.' && commas == 1 && points == 0)
    return "set decimal: ',' where numbers are written 0,5; remove the comma where it separates thousands";
  if (digits && commas + points > 0) return "remove the marks that separate thousands";
  return "";
}

}  // namespace

std::variant<float, CsvNumberProblem> parse_csv_number(std::string_view text, char decimal) {
  // A quoted cell keeps its blanks; they are no part of the number.
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty())
    return CsvNumberProblem{"a cell is missing; a number is expected", "fill it in, or remove the row"};
  std::string canonical(text.front() == '+' ? text.substr(1) : text);
  const bool foreign_point = decimal == ',' && canonical.find('.') != std::string::npos;
  if (decimal == ',') std::replace(canonical.begin(), canonical.end(), ',', '.');

  double number = 0;
  const char* end = canonical.data() + canonical.size();
  const auto [stop, failure] = std::from_chars(canonical.data(), end, number);
  if (foreign_point || stop != end || failure == std::errc::invalid_argument)
    return CsvNumberProblem{fmt::format("a number is expected, found '{}'", text), hint_for(text, decimal)};
  if (failure == std::errc::result_out_of_range || !std::isfinite(number) ||
      std::abs(number) > std::numeric_limits<float>::max())
    return CsvNumberProblem{fmt::format("a finite number of 32 bits is expected, found '{}'", text), ""};
  return static_cast<float>(number);
}

}  // namespace nexuml_library
