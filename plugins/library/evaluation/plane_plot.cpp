#include "evaluation/plane_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluation/chart.h"

namespace nexuml_library {

namespace {

constexpr double plane_width = 640, plane_height = 480, plane_legend_width = 100;

// Beyond the palette the colours come again, as rings instead of discs and upright crosses.
bool comes_again(std::size_t group) {
  return (group / palette_size) % 2 == 1;
}

void draw_plane_dot(Canvas& canvas, Point at, std::size_t group, bool test) {
  const Color color = palette_color(group);
  if (test)
    comes_again(group) ? canvas.plus(at, 3.2, color) : canvas.cross(at, 3.2, color);
  else
    comes_again(group) ? canvas.ring(at, 2.4, color) : canvas.circle(at, 2.6, color, 0.65);
}

std::vector<LegendEntry> plane_legend(const PlanePlot& plot) {
  std::vector<LegendEntry> entries;
  if (plot.groups.size() > 2 * palette_size)  // too many to tell apart
    entries.push_back({fmt::format("{} groups", plot.groups.size()), palette_color(0)});
  else
    for (std::size_t group = 0; group < plot.groups.size(); ++group)
      entries.push_back(
          {plot.groups[group], palette_color(group), comes_again(group) ? Marker::ring : Marker::disc});
  const auto is_test = [](const PlaneDot& dot) { return dot.test; };
  if (!std::ranges::all_of(plot.dots, is_test)) entries.push_back({"train", faint_ink});
  if (std::ranges::any_of(plot.dots, is_test)) entries.push_back({"test", faint_ink, Marker::cross});
  return entries;
}

}  // namespace

void save_plane_plot(const std::filesystem::path& stem, const PlanePlot& plot) {
  std::vector<double> x, y;
  for (const PlaneDot& dot : plot.dots) {
    x.push_back(dot.x);
    y.push_back(dot.y);
  }
  save_figure(stem, {.width = plane_width, .height = plane_height}, [&](Canvas& canvas) {
    const double right = plane_width - plane_legend_width - 10;
    const Axes axes(canvas, {0, 0, right, plane_height}, {range_of(x), range_of(y)},
                    {.title = plot.title, .x = plot.axis + " 1", .y = plot.axis + " 2"});
    for (const bool test : {false, true})
      for (const PlaneDot& dot : plot.dots)
        if (dot.test == test) draw_plane_dot(canvas, axes.at(dot.x, dot.y), dot.group, test);
    draw_legend(canvas, {right + 8, 36}, plane_legend(plot), plane_legend_width);
  });
}

}  // namespace nexuml_library
