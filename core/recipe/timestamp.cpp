#include "recipe/timestamp.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nexuml/recipe.h>

#include <chrono>

namespace nexuml {
namespace detail {
namespace {

// `pattern` has a 0 for each digit; every other sign stands for itself.
bool has_form(std::string_view text, std::string_view pattern) noexcept {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '0' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

int number(std::string_view text, std::size_t begin, std::size_t size) noexcept {
  int value = 0;
  for (const char digit : text.substr(begin, size)) value = value * 10 + (digit - '0');
  return value;
}

}  // namespace

bool is_recipe_timestamp(std::string_view text) noexcept {
  if (!has_form(text, "0000-00-00T00:00:00+00:00") && !has_form(text, "0000-00-00T00:00:00.000000+00:00"))
    return false;
  // 00:00 of the pattern takes any digits: the offset has to be that of UTC.
  if (!text.ends_with("+00:00")) return false;
  const std::chrono::year_month_day date{std::chrono::year(number(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(text, 8, 2)))};
  return date.ok() && number(text, 0, 4) > 0 && number(text, 11, 2) < 24 && number(text, 14, 2) < 60 &&
         number(text, 17, 2) < 60;
}

}  // namespace detail

std::string recipe_timestamp_now() {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}+00:00",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (now - second) / std::chrono::microseconds(1));
}

}  // namespace nexuml
