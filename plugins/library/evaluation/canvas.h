// Canvas: the few drawing calls that plots need, on PNG and SVG alike.
//
//     save_figure(folder / "loss", {.width = 640, .height = 480}, [&](Canvas& canvas) {
//       canvas.line({{10, 10}, {200, 90}}, palette_color(0), 2);
//       canvas.text({105, 8}, "loss", {.size = 14, .bold = true, .horizontal = Canvas::center});
//     });                                                        // writes loss.png and loss.svg
//
// Lengths are in points; the origin is the upper left corner. [one thread a figure]
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace nexuml_library {

struct Color {
  double red = 0, green = 0, blue = 0;
};
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

inline constexpr Color ink{.13, .13, .13};
inline constexpr Color faint_ink{.35, .35, .35};
inline constexpr Color grid_color{.90, .90, .90};

// Okabe and Ito (2008): eight colours that stay apart under every kind of colour blindness. Repeats.
Color palette_color(std::size_t index);
inline constexpr std::size_t palette_size = 8;

class Canvas {
 public:
  // Where a text stands relative to its point: 0 begins there, 1 ends there.
  static constexpr double begin = 0, center = 0.5, end = 1;
  struct TextStyle {
    double size = 11;
    bool bold = false;
    Color color = ink;
    double horizontal = begin;
    double vertical = center;  // 0: below the point
    bool upwards = false;      // turned by 90 degrees
  };

  explicit Canvas(void* context) : context_(context) {}  // a cairo_t, which outlives the canvas

  void line(const std::vector<Point>& points, Color color, double width);
  void rectangle(const Box& box, Color color, double opacity = 1);
  void frame(const Box& box, Color color, double width);
  void circle(Point at, double radius, Color color, double opacity = 1);
  void ring(Point at, double radius, Color color);
  void cross(Point at, double radius, Color color);  // x
  void plus(Point at, double radius, Color color);
  void text(Point at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, double size);
  // The text, or as much of its beginning and its end as fits with an ellipsis between: names often differ at
  // the end.
  std::string fitted(const std::string& text, double size, double width);
  // `pixels` row by row, `columns` a row; each pixel stays a sharp square.
  void image(const Box& box, const std::vector<Color>& pixels, std::size_t columns);

 private:
  void* context_;
};

struct FigureSize {
  double width = 640, height = 480;
};

// Writes `stem`.png (two pixels a point) and `stem`.svg, each whole or not at all. Throws nexuml::Error E855.
void save_figure(const std::filesystem::path& stem, FigureSize size,
                 const std::function<void(Canvas&)>& draw);

}  // namespace nexuml_library
