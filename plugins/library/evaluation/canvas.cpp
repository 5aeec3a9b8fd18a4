#include "evaluation/canvas.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <system_error>

#include "evaluation/table_file.h"

namespace nexuml_library {

namespace {

constexpr double pixels_a_point = 2;
constexpr double full_turn = 2 * std::numbers::pi;

cairo_t* cairo(void* context) {
  return static_cast<cairo_t*>(context);
}
void set_color(void* context, Color color, double opacity = 1) {
  cairo_set_source_rgba(cairo(context), color.red, color.green, color.blue, opacity);
}

void select_font(void* context, double size, bool bold) {
  cairo_select_font_face(cairo(context), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo(context), size);
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

cairo_status_t append_bytes(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void paint(cairo_surface_t* surface, double scale, const std::function<void(Canvas&)>& draw) {
  const Context context(cairo_create(surface), &cairo_destroy);
  cairo_scale(context.get(), scale, scale);
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  Canvas canvas(context.get());
  draw(canvas);
}

void require_success(cairo_status_t status, const std::filesystem::path& path) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw nexuml::Error("E855", fmt::format("the plot cannot be drawn: {}", cairo_status_to_string(status)),
                        nexuml::Where::in_file(path.string()));
}

}  // namespace

Color palette_color(std::size_t index) {
  static constexpr std::array<Color, palette_size> colors{{{0, .447, .698},
                                                           {.902, .624, 0},
                                                           {0, .620, .451},
                                                           {.835, .369, 0},
                                                           {.8, .475, .655},
                                                           {.337, .706, .914},
                                                           {.35, .35, .35},
                                                           {.75, .70, .10}}};
  return colors[index % colors.size()];
}

void Canvas::line(const std::vector<Point>& points, Color color, double width) {
  set_color(context_, color);
  cairo_set_line_width(cairo(context_), width);
  cairo_set_line_join(cairo(context_), CAIRO_LINE_JOIN_ROUND);
  cairo_new_path(cairo(context_));
  for (const Point& point : points) cairo_line_to(cairo(context_), point.x, point.y);
  cairo_stroke(cairo(context_));
}

void Canvas::rectangle(const Box& box, Color color, double opacity) {
  set_color(context_, color, opacity);
  cairo_rectangle(cairo(context_), box.x, box.y, box.width, box.height);
  cairo_fill(cairo(context_));
}

void Canvas::frame(const Box& box, Color color, double width) {
  set_color(context_, color);
  cairo_set_line_width(cairo(context_), width);
  cairo_rectangle(cairo(context_), box.x, box.y, box.width, box.height);
  cairo_stroke(cairo(context_));
}

void Canvas::circle(Point at, double radius, Color color, double opacity) {
  set_color(context_, color, opacity);
  cairo_new_path(cairo(context_));
  cairo_arc(cairo(context_), at.x, at.y, radius, 0, full_turn);
  cairo_fill(cairo(context_));
}

void Canvas::ring(Point at, double radius, Color color) {
  set_color(context_, color);
  cairo_set_line_width(cairo(context_), 1.2);
  cairo_new_path(cairo(context_));
  cairo_arc(cairo(context_), at.x, at.y, radius, 0, full_turn);
  cairo_stroke(cairo(context_));
}

void Canvas::plus(Point at, double radius, Color color) {
  line({{at.x - radius, at.y}, {at.x + radius, at.y}}, color, 1.2);
  line({{at.x, at.y - radius}, {at.x, at.y + radius}}, color, 1.2);
}

void Canvas::cross(Point at, double radius, Color color) {
  line({{at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}}, color, 1.2);
  line({{at.x - radius, at.y + radius}, {at.x + radius, at.y - radius}}, color, 1.2);
}

void Canvas::text(Point at, const std::string& text, const TextStyle& style) {
  select_font(context_, style.size, style.bold);
  cairo_text_extents_t extents;
  cairo_font_extents_t font;
  cairo_text_extents(cairo(context_), text.c_str(), &extents);
  cairo_font_extents(cairo(context_), &font);
  const double cap_height = font.ascent * 0.72;  // of capitals and digits, so that lines of text align
  set_color(context_, style.color);
  cairo_save(cairo(context_));
  cairo_translate(cairo(context_), at.x, at.y);
  if (style.upwards) cairo_rotate(cairo(context_), -std::numbers::pi / 2);
  cairo_move_to(cairo(context_), -extents.x_advance * style.horizontal, cap_height * (1 - style.vertical));
  cairo_show_text(cairo(context_), text.c_str());
  cairo_restore(cairo(context_));
}

double Canvas::text_width(const std::string& text, double size) {
  select_font(context_, size, false);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo(context_), text.c_str(), &extents);
  return extents.x_advance;
}

std::string Canvas::fitted(const std::string& text, double size, double width) {
  if (text_width(text, size) <= width) return text;
  std::vector<std::string> letters;  // of UTF-8, whose bytes 10xxxxxx continue one
  for (const char byte : text) {
    if (letters.empty() || (static_cast<unsigned char>(byte) & 0xc0) != 0x80) letters.emplace_back();
    letters.back() += byte;
  }
  std::string shortened;
  for (std::size_t kept = letters.size(); kept-- > 0;) {
    shortened.clear();
    const std::size_t first = (kept + 1) / 2;
    for (std::size_t i = 0; i < first; ++i) shortened += letters[i];
    shortened += "\u2026";
    for (std::size_t i = letters.size() - (kept - first); i < letters.size(); ++i) shortened += letters[i];
    if (text_width(shortened, size) <= width) break;
  }
  return shortened;
}

void Canvas::image(const Box& box, const std::vector<Color>& pixels, std::size_t columns) {
  if (columns == 0 || pixels.empty()) return;
  const std::size_t rows = pixels.size() / columns;
  const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, static_cast<int>(columns));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(stride) * rows);
  const auto level = [](double value) {
    return static_cast<std::uint32_t>(std::lround(std::min(1.0, std::max(0.0, value)) * 255));
  };
  for (std::size_t row = 0; row < rows; ++row) {
    auto* out = reinterpret_cast<std::uint32_t*>(bytes.data() + row * static_cast<std::size_t>(stride));
    for (std::size_t column = 0; column < columns; ++column) {
      const Color& pixel = pixels[row * columns + column];
      out[column] = level(pixel.red) << 16 | level(pixel.green) << 8 | level(pixel.blue);
    }
  }
  const Surface source(
      cairo_image_surface_create_for_data(bytes.data(), CAIRO_FORMAT_RGB24, static_cast<int>(columns),
                                          static_cast<int>(rows), stride),
      &cairo_surface_destroy);
  cairo_save(cairo(context_));
  cairo_translate(cairo(context_), box.x, box.y);
  cairo_scale(cairo(context_), box.width / static_cast<double>(columns),
              box.height / static_cast<double>(rows));
  cairo_set_source_surface(cairo(context_), source.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo(context_)), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cairo(context_), 0, 0, static_cast<double>(columns), static_cast<double>(rows));
  cairo_fill(cairo(context_));
  cairo_restore(cairo(context_));
}

void save_figure(const std::filesystem::path& stem, FigureSize size,
                 const std::function<void(Canvas&)>& draw) {
  std::filesystem::path png = stem, svg = stem;
  png += ".png";
  svg += ".svg";
  std::string bytes;
  {
    const Surface surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(size.width * pixels_a_point),
                                   static_cast<int>(size.height * pixels_a_point)),
        &cairo_surface_destroy);
    paint(surface.get(), pixels_a_point, draw);
    require_success(cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes), png);
  }
  write_text(png, bytes);
  bytes.clear();
  {
    const Surface surface(cairo_svg_surface_create_for_stream(append_bytes, &bytes, size.width, size.height),
                          &cairo_surface_destroy);
    paint(surface.get(), 1, draw);
    cairo_surface_finish(surface.get());
    require_success(cairo_surface_status(surface.get()), svg);
  }
  write_text(svg, bytes);
}

}  // namespace nexuml_library
