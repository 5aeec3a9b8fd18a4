#include "evaluation/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nexuml_library {

namespace {
constexpr double left_margin = 62, right_margin = 16, top_margin = 34, bottom_margin = 48;
constexpr double legend_line = 17;
}  // namespace

Range range_of(const std::vector<double>& values, double margin) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high) return {0, 1};
  const double length = high - low;
  const double added = length > 0 ? length * margin : std::max(1.0, std::abs(low)) * 0.5;
  return {low - added, high + added};
}

std::vector<double> round_ticks(Range range) {
  const double raw = (range.high - range.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double factor = raw / power;
  const double step = (factor < 1.5 ? 1 : factor < 3 ? 2 : factor < 7 ? 5 : 10) * power;
  std::vector<double> ticks;
  for (double tick = std::ceil(range.low / step - 1e-9) * step; tick <= range.high + 1e-9 * step;
       tick += step)
    ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  return ticks;
}

Axes::Axes(Canvas& canvas, const Box& outer, const DataWindow& window, const AxisTexts& texts)
    : box_{outer.x + left_margin, outer.y + top_margin, outer.width - left_margin - right_margin,
           outer.height - top_margin - bottom_margin - texts.tick_room},
      window_(window) {
  if (texts.x_ticks)
    for (const double tick : round_ticks(window.x)) {
      const double x = at(tick, window.y.low).x;
      canvas.line({{x, box_.y}, {x, box_.y + box_.height}}, grid_color, 1);
      canvas.text({x, box_.y + box_.height + 8}, fmt::format("{:.6g}", tick),
                  {.size = 10, .color = faint_ink, .horizontal = Canvas::center, .vertical = Canvas::begin});
    }
  if (texts.y_ticks)
    for (const double tick : round_ticks(window.y)) {
      const double y = at(window.x.low, tick).y;
      canvas.line({{box_.x, y}, {box_.x + box_.width, y}}, grid_color, 1);
      canvas.text({box_.x - 7, y}, fmt::format("{:.6g}", tick),
                  {.size = 10, .color = faint_ink, .horizontal = Canvas::end});
    }
  canvas.line({{box_.x, box_.y}, {box_.x, box_.y + box_.height}, {box_.x + box_.width, box_.y + box_.height}},
              faint_ink, 1);
  // Bold letters are about a ninth wider than those that are measured.
  canvas.text({box_.x, outer.y + 17}, canvas.fitted(texts.title, 13, (outer.width - left_margin) * 0.9),
              {.size = 13, .bold = true});
  canvas.text({box_.x + box_.width / 2, outer.y + outer.height - 14}, texts.x,
              {.horizontal = Canvas::center});
  canvas.text({outer.x + 13, box_.y + box_.height / 2}, texts.y,
              {.horizontal = Canvas::center, .upwards = true});
}

Point Axes::at(double x, double y) const {
  return {box_.x + (x - window_.x.low) / (window_.x.high - window_.x.low) * box_.width,
          box_.y + box_.height - (y - window_.y.low) / (window_.y.high - window_.y.low) * box_.height};
}

void draw_marker(Canvas& canvas, Point at, Marker marker, Color color) {
  constexpr double radius = 4;
  switch (marker) {
    case Marker::disc:
      return canvas.circle(at, radius, color);
    case Marker::ring:
      return canvas.ring(at, radius, color);
    case Marker::cross:
      return canvas.cross(at, radius, color);
    case Marker::plus:
      return canvas.plus(at, radius, color);
  }
}

void draw_legend(Canvas& canvas, Point at, const std::vector<LegendEntry>& entries, double width) {
  constexpr double marker_room = 18, text_size = 11;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Point marker{at.x + 6, at.y + 6 + legend_line * static_cast<double>(i)};
    draw_marker(canvas, marker, entries[i].marker, entries[i].color);
    canvas.text({marker.x + 12, marker.y}, canvas.fitted(entries[i].text, text_size, width - marker_room),
                {.size = text_size});
  }
}

}  // namespace nexuml_library
