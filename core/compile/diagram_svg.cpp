#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compile/diagram_layout.h"

namespace nexuml {
namespace {

constexpr const char* style = R"(<style>
  text { font-family: Inter, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif; font-size: 12px; fill: #334155; }
  .title { font-size: 16px; font-weight: 600; fill: #0f172a; }
  .stage { fill: #f8fafc; stroke: #cbd5e1; }
  .stage-title { font-size: 12px; font-weight: 600; fill: #64748b; }
  .node { fill: #ffffff; stroke: #64748b; stroke-width: 1.2; }
  .node.data { fill: #e8f1fb; stroke: #3b7dd8; }
  .node.loss { stroke: #d64545; stroke-width: 1.6; }
  .node.metric { stroke: #2e9e5b; stroke-width: 1.6; }
  .name { font-size: 13px; font-weight: 600; fill: #0f172a; }
  .pill { fill: #eef2f7; stroke: #cbd5e1; }
  .pill.loss { fill: #fdeaea; stroke: #d64545; }
  .pill.metric { fill: #e9f7ef; stroke: #2e9e5b; }
  .pill-text { font-size: 11px; fill: #475569; }
  .edge { fill: none; stroke: #94a3b8; stroke-width: 1.4; }
  .stub { stroke: #94a3b8; stroke-width: 1.2; }
</style>
)";

std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      result += c;
  }
  return result;
}

Point towards(const Point& from, const Point& to, double distance) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length == 0) return from;
  const double share = std::min(0.5, distance / length);
  return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

class SvgWriter {
 public:
  SvgWriter(const Diagram& diagram, const DiagramLayout& layout) : diagram_(diagram), layout_(layout) {}

  std::string write() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\">\n",
        layout_.width, layout_.height);
    text_ += style;
    text_ +=
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0.5 L8 4 L0 7.5 z\" fill=\"#94a3b8\"/></marker></defs>\n";
    text_ += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    label("title", 28, 36, diagram_.scenario, "start");
    for (const StageLayout& stage : layout_.stages) {
      box("stage", stage.box, 10);
      label("stage-title", stage.box.x + 14, stage.box.y + 20, stage.title, "start");
    }
    for (const auto& points : layout_.edges) edge(points);
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) node(i);
    return text_ + "</svg>\n";
  }

 private:
  void box(const std::string& kind, const Box& at, double radius) {
    text_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"/>\n", kind,
        at.x, at.y, at.width, at.height, radius);
  }
  void label(const char* kind, double x, double y, const std::string& what, const char* anchor = "middle") {
    text_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind,
                         x, y, anchor, xml_text(what));
  }

  // Straight pieces with rounded corners.
  void edge(const std::vector<Point>& points) {
    std::string path = fmt::format("M{:.1f} {:.1f}", points.front().x, points.front().y);
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      const Point before = towards(points[i], points[i - 1], 7), after = towards(points[i], points[i + 1], 7);
      path += fmt::format(" L{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}", before.x, before.y, points[i].x,
                          points[i].y, after.x, after.y);
    }
    path += fmt::format(" L{:.1f} {:.1f}", points.back().x, points.back().y);
    text_ += fmt::format("<path class=\"edge\" marker-end=\"url(#arrow)\" d=\"{}\"/>\n", path);
  }

  void pill(const Pill& one) {
    const std::string role = one.role == KeyRole::plain ? "" : " " + std::string(to_string(one.role));
    box("pill" + role, one.box, one.box.height / 2);
    label("pill-text", one.box.centre(), one.box.y + 14, one.text);
  }
  void stub(double x, double from, double to) {
    text_ += fmt::format(
        "<line class=\"stub\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x, from, to);
  }

  void node(std::size_t index) {
    const NodeLayout& at = layout_.nodes[index];
    for (const Pill& input : at.inputs) {
      stub(input.box.centre(), input.box.bottom(), at.box.y);
      pill(input);
    }
    for (const Pill& end : at.ends) {
      stub(end.box.centre(), at.box.bottom(), end.box.y);
      pill(end);
    }
    box("node" + kind_of(index), at.box, 8);
    double y = at.box.y + 22;
    for (std::size_t i = 0; i < at.lines.size(); ++i, y += 16)
      label(i == 0 ? "name" : "detail", at.box.centre(), y, at.lines[i]);
  }
  std::string kind_of(std::size_t index) const {
    if (index == 0) return " data";
    for (const DiagramOutput& output : diagram_.nodes[index].outputs)
      if (output.role != KeyRole::plain) return " " + std::string(to_string(output.role));
    return {};
  }

  const Diagram& diagram_;
  const DiagramLayout& layout_;
  std::string text_;
};

}  // namespace

std::string svg_diagram(const CompiledPipeline& pipeline, const ScenarioSpec& scenario) {
  const Diagram diagram = diagram_of(pipeline, scenario);
  const DiagramLayout layout = layout_of(diagram);
  return SvgWriter(diagram, layout).write();
}

}  // namespace nexuml
