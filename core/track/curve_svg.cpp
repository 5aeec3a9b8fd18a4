#include "track/curve_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nexuml {

namespace {

constexpr double chart_width = 460, chart_height = 260, left_edge = 58, right_margin = 14, top_edge = 30,
                 bottom_margin = 36;
// Okabe and Ito (2008): colours that stay apart under colour blindness.
constexpr std::array<const char*, 6> curve_colors{"#0072b2", "#e69f00", "#009e73",
                                                  "#d55e00", "#cc79a7", "#595959"};

struct Bounds {
  double low, high, last_epoch;  // of a single epoch 0: it stands in the middle
  double x(double epoch) const {
    const double share = last_epoch > 0 ? epoch / last_epoch : 0.5;
    return left_edge + share * (chart_width - left_edge - right_margin);
  }
  double y(double value) const {
    return top_edge + (high - value) / (high - low) * (chart_height - top_edge - bottom_margin);
  }
};

Bounds bounds_of(const std::vector<Curve>& curves) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::size_t epochs = 0;
  for (const Curve& curve : curves) {
    epochs = std::max(epochs, curve.values.size());
    for (const auto& value : curve.values)
      if (value && std::isfinite(*value)) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
  }
  if (low > high) {
    low = 0;
    high = 1;
  }
  // A curve that stays where it is lies in the middle, whatever its size.
  const double margin = high > low ? (high - low) * 0.06 : (low != 0 ? std::abs(low) * 0.5 : 1.0);
  return {low - margin, high + margin, std::max(0.0, static_cast<double>(epochs) - 1)};
}

std::vector<double> round_steps(double low, double high) {
  const double raw = (high - low) / 4, power = std::pow(10, std::floor(std::log10(raw)));
  const double factor = raw / power;
  const double step = (factor < 1.5 ? 1 : factor < 3 ? 2 : factor < 7 ? 5 : 10) * power;
  std::vector<double> steps;
  for (double at = std::ceil(low / step) * step; at <= high; at += step)
    steps.push_back(std::abs(at) < step * 1e-9 ? 0 : at);
  return steps;
}

std::string path_of(const Curve& curve, const Bounds& bounds) {
  std::string path;
  bool drawing = false;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    const auto& value = curve.values[i];
    if (!value || !std::isfinite(*value)) {
      drawing = false;
      continue;
    }
    path += fmt::format("{}{:.1f},{:.1f}", drawing ? "L" : "M", bounds.x(static_cast<double>(i)),
                        bounds.y(*value));
    drawing = true;
  }
  return path;
}

// Points without a neighbour, which no line shows.
std::string dots_of(const Curve& curve, const Bounds& bounds, const char* color) {
  const auto there = [&](std::size_t i) {
    return i < curve.values.size() && curve.values[i] && std::isfinite(*curve.values[i]);
  };
  std::string dots;
  for (std::size_t i = 0; i < curve.values.size(); ++i)
    if (there(i) && !there(i + 1) && (i == 0 || !there(i - 1)))
      dots += fmt::format("<circle fill=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>", color,
                          bounds.x(static_cast<double>(i)), bounds.y(*curve.values[i]));
  return dots;
}

std::vector<double> epoch_ticks(const Bounds& bounds) {
  if (bounds.last_epoch == 0) return {0};
  std::vector<double> ticks = round_steps(0, bounds.last_epoch);
  std::erase_if(ticks, [](double at) { return at != std::floor(at); });
  return ticks;
}

std::string grid_svg(const Bounds& bounds) {
  std::string svg;
  for (const double at : round_steps(bounds.low, bounds.high))
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0},{1:.1f}H{2}\"/><text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.4g}</text>",
        left_edge, bounds.y(at), chart_width - right_margin, left_edge - 6, bounds.y(at) + 4, at);
  for (const double at : epoch_ticks(bounds))
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>",
                       bounds.x(at), chart_height - bottom_margin + 14, at);
  return svg + fmt::format(
                   "<path class=\"axis\" d=\"M{0},{1}V{2}H{3}\"/><text class=\"tick\" x=\"{4}\" y=\"{5}\" "
                   "text-anchor=\"middle\">epoch</text>",
                   left_edge, top_edge, chart_height - bottom_margin, chart_width - right_margin,
                   (left_edge + chart_width - right_margin) / 2, chart_height - 6);
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

namespace {

constexpr double letter = 6.8, title_letter = 8;  // widths of one in the legend and in the title

// What of the title fits beside the legend; the whole of it shows under the pointer.
std::string fitted_title(const std::string& title, const std::vector<Curve>& curves) {
  double room = chart_width - left_edge - right_margin;
  for (const Curve& curve : curves) room -= 12 + letter * static_cast<double>(curve.name.size());
  const auto letters = static_cast<std::size_t>(std::max(8.0, room / title_letter));
  if (title.size() <= letters) return title;
  std::size_t kept = letters - 1;
  while (kept > 0 && (static_cast<unsigned char>(title[kept]) & 0xc0) == 0x80) --kept;  // whole letters
  return title.substr(0, kept) + "\u2026";
}

bool has_finite_value(const std::vector<Curve>& curves) {
  for (const Curve& curve : curves)
    for (const auto& value : curve.values)
      if (value && std::isfinite(*value)) return true;
  return false;
}

}  // namespace

std::string curve_svg(const std::string& title, const std::vector<Curve>& curves) {
  const Bounds bounds = bounds_of(curves);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\"><text class=\"title\" "
      "x=\"{2}\" "
      "y=\"18\">{3}<title>{4}</title></text>",
      chart_width, chart_height, left_edge, markup_text(fitted_title(title, curves)), markup_text(title));
  svg += grid_svg(bounds);
  if (!has_finite_value(curves))
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">no finite value</text>",
                       (left_edge + chart_width - right_margin) / 2, chart_height / 2);
  double legend = chart_width - right_margin;
  for (std::size_t i = curves.size(); i-- > 0;) {
    const char* color = curve_colors[i % curve_colors.size()];
    svg += fmt::format("<path class=\"curve\" stroke=\"{}\" d=\"{}\"/>", color, path_of(curves[i], bounds));
    svg += dots_of(curves[i], bounds, color);
    // As a style: an attribute would give way to the rules of other drawings on the page.
    svg += fmt::format(
        "<text class=\"legend\" style=\"fill:{}\" x=\"{}\" y=\"18\" text-anchor=\"end\">{}</text>", color,
        legend, markup_text(curves[i].name));
    legend -= 12 + letter * static_cast<double>(curves[i].name.size());
  }
  return svg + "</svg>";
}

}  // namespace nexuml
