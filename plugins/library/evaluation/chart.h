// Axes, ticks and legends on a canvas.
//
//     Axes axes(canvas, box, {.x = {0, 10}, .y = {0, 1}}, {.title = "Loss", .x = "epoch", .y = "loss"});
//     canvas.circle(axes.at(3, 0.25), 3, palette_color(0));
//     draw_legend(canvas, axes.box(), {{"train", palette_color(0)}});
#pragma once

#include <string>
#include <vector>

#include "evaluation/canvas.h"

namespace nexuml_library {

struct Range {
  double low = 0, high = 1;
};
// Of those of `values` that are finite, widened by `margin` of its length on both sides; never empty.
Range range_of(const std::vector<double>& values, double margin = 0.05);

struct DataWindow {
  Range x, y;
};
struct AxisTexts {
  std::string title, x, y;  // with units where there are any
  bool x_ticks = true, y_ticks = true;
  double tick_room = 0;  // below the axis, beside the usual, for long names
};

class Axes {
 public:
  // Draws title, grid, ticks and labels; `outer` holds all of it.
  Axes(Canvas& canvas, const Box& outer, const DataWindow& window, const AxisTexts& texts);

  Point at(double x, double y) const;
  const Box& box() const noexcept { return box_; }  // the part that holds data

 private:
  Box box_;
  DataWindow window_;
};

// About five round numbers inside the range.
std::vector<double> round_ticks(Range range);

enum class Marker { disc, ring, cross, plus };
void draw_marker(Canvas& canvas, Point at, Marker marker, Color color);

struct LegendEntry {
  std::string text;
  Color color;
  Marker marker = Marker::disc;
};
// In a column whose upper left corner is `at`; texts wider than `width` are shortened.
void draw_legend(Canvas& canvas, Point at, const std::vector<LegendEntry>& entries, double width = 200);

}  // namespace nexuml_library
