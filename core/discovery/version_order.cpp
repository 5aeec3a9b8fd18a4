#include "discovery/version_order.h"

#include <algorithm>

namespace nexuml {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Takes a run of digits or of other characters from the front.
std::string_view take_run(std::string_view& rest) noexcept {
  const bool digits = is_digit(rest.front());
  const auto end = std::ranges::find_if(rest, [&](char c) { return is_digit(c) != digits; });
  const std::string_view run = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(run.size());
  return run;
}

std::string_view without_zeros(std::string_view digits) noexcept {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool version_less(std::string_view left, std::string_view right) noexcept {
  while (!left.empty() && !right.empty()) {
    std::string_view a = take_run(left), b = take_run(right);
    if (is_digit(a.front()) && is_digit(b.front())) {
      a = without_zeros(a);
      b = without_zeros(b);
      if (a.size() != b.size()) return a.size() < b.size();
    }
    if (a != b) return a < b;
  }
  // What follows a common start: "-rc1" makes it earlier, ".1" later.
  if (left.empty() == right.empty()) return false;
  return left.empty() ? !right.starts_with('-') : left.starts_with('-');
}

}  // namespace nexuml
