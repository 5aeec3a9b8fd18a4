// Curves over epochs as SVG, for a page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

struct Curve {
  std::string name;
  std::vector<std::optional<double>> values;  // one an epoch; gaps are left open
  bool operator==(const Curve&) const = default;
};

// All curves share both axes.
std::string curve_svg(const std::string& title, const std::vector<Curve>& curves);

// Text inside XML.
std::string markup_text(std::string_view text);

}  // namespace nexuml
