#include "compile/diagram_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nexuml {
namespace {

// Pixels. Text is 12 or 13 pixels high in a sans-serif font; widths are estimates that err to the large side.
constexpr double margin = 28, stage_padding = 18, stage_title = 30, node_gap = 26, pill_height = 20,
                 pill_gap = 8;
constexpr double pill_to_node = 9, line_height = 16, node_padding = 12, track_step = 9, track_room = 12;
constexpr double lane_step = 14, character = 6.7, title_character = 7.6, corner_room = 16;

double text_width(const std::string& text, double per_character = character) {
  return static_cast<double>(text.size()) * per_character;
}

std::string shortened(std::string text, std::size_t limit) {
  if (text.size() > limit) text = text.substr(0, limit - 3) + "...";
  return text;
}

// `Linear > ReLU > Linear`; a single child that only holds others is looked through.
std::string chain_of(const DiagramModule& module) {
  if (module.children.size() == 1 && !module.children.front().children.empty())
    return chain_of(module.children.front());
  std::string text;
  for (const DiagramModule& child : module.children) text += (text.empty() ? "" : " > ") + child.type;
  return text;
}

class Layouter {
 public:
  explicit Layouter(const Diagram& diagram) : diagram_(diagram), nodes_(diagram.nodes.size()) {}

  DiagramLayout layout() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) describe(i);
    assign_rows();
    count_tracks();
    place_rows();
    centre_rows();
    route();
    return finish();
  }

 private:
  struct Row {
    std::vector<std::size_t> nodes;
    std::size_t stage = 0;  // 0: the data
    bool opens_stage = false, closes_stage = false;
    double width = 0, tracks_top = 0, pills_top = 0, nodes_top = 0, bottom = 0;
    int tracks = 0;
  };

  // ---- texts and sizes

  void describe(std::size_t index) {
    const DiagramNode& node = diagram_.nodes[index];
    NodeLayout& layout = nodes_[index];
    layout.lines.push_back(shortened(node.module.name, 60));
    if (index == 0) {
      for (const DiagramOutput& output : node.outputs)
        layout.lines.push_back(key_text(output.key, output.shape));
    } else {
      std::string second = node.module.type;
      if (diagram_.options.show_params && node.module.parameters > 0)
        second += fmt::format(" \u00b7 {} params", with_thousands(node.module.parameters));
      layout.lines.push_back(shortened(second, 64));
      if (const std::string chain = chain_of(node.module); diagram_.options.depth > 1 && !chain.empty())
        layout.lines.push_back(shortened(chain, 56));
      for (const DiagramInput& input : node.inputs)
        layout.inputs.push_back(pill(key_text(input.key, input.shape)));
      for (const DiagramOutput& output : node.outputs)
        if (!output.read) layout.ends.push_back(end_pill(output));
    }
    double width = text_width(layout.lines.front(), title_character);
    for (const std::string& line : layout.lines) width = std::max(width, text_width(line));
    // Where keys leave at the left half, those that end here hang from the right half.
    const double ends =
        row_width(layout.ends) + (shares_bottom(index) ? row_width(layout.ends) + 2 * pill_gap : 0);
    layout.box.width = std::max({130.0, width + 2 * node_padding, row_width(layout.inputs), ends});
    layout.box.height = static_cast<double>(layout.lines.size()) * line_height + 2 * node_padding - 4;
  }
  bool shares_bottom(std::size_t index) const {
    const auto& outputs = diagram_.nodes[index].outputs;
    const auto read =
        std::count_if(outputs.begin(), outputs.end(), [](const auto& output) { return output.read; });
    return index > 0 && read > 0 && read < static_cast<std::ptrdiff_t>(outputs.size());
  }
  std::string key_text(const std::string& key, const std::string& shape) const {
    return diagram_.options.show_shapes && !shape.empty() ? key + " " + shape : key;
  }
  static Pill pill(std::string text, KeyRole role = KeyRole::plain) {
    Pill made{.box = {}, .text = shortened(std::move(text), 40), .role = role};
    made.box.width = text_width(made.text) + 18;
    made.box.height = pill_height;
    return made;
  }
  Pill end_pill(const DiagramOutput& output) const {
    if (output.role == KeyRole::loss)
      return pill(fmt::format("{} \u00d7 {}", output.key, output.weight), output.role);
    return pill(key_text(output.key, output.shape), output.role);
  }
  static double row_width(const std::vector<Pill>& pills) {
    double width = 0;
    for (const Pill& one : pills) width += one.box.width + pill_gap;
    return pills.empty() ? 0 : width - pill_gap;
  }

  // ---- rows

  void assign_rows() {
    rows_.push_back({.nodes = {0}});
    for (std::size_t i = 1; i < nodes_.size();) {
      const std::size_t first_row = rows_.size();
      stage_names_.push_back(diagram_.nodes[i].stage);
      for (; i < nodes_.size() && diagram_.nodes[i].stage == stage_names_.back(); ++i) {
        std::size_t row = first_row;
        for (const DiagramInput& input : diagram_.nodes[i].inputs)
          if (nodes_[input.from].row >= first_row) row = std::max(row, nodes_[input.from].row + 1);
        if (row == rows_.size()) rows_.push_back({.nodes = {}, .stage = stage_names_.size()});
        rows_[row].nodes.push_back(i);
        nodes_[i].row = row;
      }
      rows_[first_row].opens_stage = true;
      rows_.back().closes_stage = true;
    }
    for (Row& row : rows_) {
      for (const std::size_t node : row.nodes) row.width += nodes_[node].box.width + node_gap;
      row.width -= node_gap;
      content_width_ = std::max(content_width_, row.width);
    }
  }

  // A key of a node as it travels: to the next row directly, further down through a lane.
  using Net = std::pair<std::size_t, std::string>;

  bool needs_lane(const DiagramInput& input, std::size_t reader) const {
    return nodes_[reader].row > nodes_[input.from].row + 1;
  }

  // Each net takes one horizontal track in every gap where it turns. Keys that leave for a lane turn first
  // and those that come from one last: so a way out of a node never runs along a way into the one below.
  void count_tracks() {
    each_input([&](const Net& net, const DiagramInput& input, std::size_t reader) {
      if (!needs_lane(input, reader)) return;
      lanes_.try_emplace(net, lanes_.size());
      track(net, nodes_[input.from].row + 1);
    });
    each_input([&](const Net& net, const DiagramInput& input, std::size_t reader) {
      if (!needs_lane(input, reader)) track(net, nodes_[reader].row);
    });
    each_input(
        [&](const Net& net, const DiagramInput&, std::size_t reader) { track(net, nodes_[reader].row); });
  }
  void each_input(const auto& visit) const {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      for (const DiagramInput& input : diagram_.nodes[i].inputs) visit(Net{input.from, input.key}, input, i);
  }
  int track(const Net& net, std::size_t row) {
    const auto [place, added] = tracks_.try_emplace({net, row}, rows_[row].tracks);
    if (added) ++rows_[row].tracks;
    return place->second;
  }

  void place_rows() {
    double y = margin + 26;  // the scenario's name stands above
    for (Row& row : rows_) {
      const bool first = row.stage == 0;
      if (!first) {
        row.tracks_top = y;
        y += track_room + row.tracks * track_step;
        if (row.opens_stage) {
          StageLayout stage;
          stage.box.y = y;
          stage.title = stage_title_of(row.stage);
          stages_.push_back(std::move(stage));
          y += stage_title;
        }
        row.pills_top = y;
        y += pill_height + pill_to_node;
      }
      row.nodes_top = y;
      double tallest = 0;
      bool ends = false;
      for (const std::size_t node : row.nodes) {
        tallest = std::max(tallest, nodes_[node].box.height);
        ends = ends || !nodes_[node].ends.empty();
      }
      y += tallest;
      row.bottom = y;
      if (ends) y += pill_to_node + pill_height;
      if (row.closes_stage) {
        y += stage_padding;
        stages_.back().box.height = y - stages_.back().box.y;
      }
    }
    height_ = y + margin;
  }
  std::string stage_title_of(std::size_t stage) const {
    const std::string& name = stage_names_[stage - 1];
    const std::int64_t parameters = stage_parameters(diagram_, name);
    return diagram_.options.show_params && parameters > 0
               ? fmt::format("{} \u00b7 {} params", name, with_thousands(parameters))
               : name;
  }

  void centre_rows() {
    const double middle = margin + stage_padding + content_width_ / 2;
    for (const Row& row : rows_) {
      double x = middle - row.width / 2;
      for (const std::size_t node : row.nodes) {
        NodeLayout& layout = nodes_[node];
        layout.box.x = x;
        layout.box.y = row.nodes_top;
        place_pills(layout.inputs, layout.box.centre(), row.pills_top);
        const double ends_centre =
            layout.box.centre() + (shares_bottom(node) ? row_width(layout.ends) / 2 + pill_gap : 0);
        place_pills(layout.ends, ends_centre, layout.box.bottom() + pill_to_node);
        x += layout.box.width + node_gap;
      }
    }
    for (StageLayout& stage : stages_) {
      stage.box.x = margin;
      stage.box.width = content_width_ + 2 * stage_padding;
    }
  }
  static void place_pills(std::vector<Pill>& pills, double centre, double y) {
    double x = centre - row_width(pills) / 2;
    for (Pill& one : pills) {
      one.box.x = x;
      one.box.y = y;
      x += one.box.width + pill_gap;
    }
  }

  // ---- edges

  double track_y(const Net& net, std::size_t row) {
    return rows_[row].tracks_top + track_room / 2 + (track(net, row) + 0.5) * track_step;
  }
  double lane_x(const Net& net) const {
    return margin + content_width_ + 2 * stage_padding + corner_room +
           static_cast<double>(lanes_.at(net)) * lane_step;
  }
  // Keys that others read leave a node side by side.
  Point exit_of(const Net& net) const {
    const DiagramNode& node = diagram_.nodes[net.first];
    const Box& box = nodes_[net.first].box;
    double count = 0, position = 0;
    for (const DiagramOutput& output : node.outputs) {
      if (output.key == net.second) position = count;
      if (output.read) ++count;
    }
    const double width = shares_bottom(net.first) ? box.width / 2 : box.width;
    return {box.x + width * (position + 1) / (count + 1), box.bottom()};
  }

  void route() {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      for (std::size_t k = 0; k < diagram_.nodes[i].inputs.size(); ++k) {
        const DiagramInput& input = diagram_.nodes[i].inputs[k];
        const Net net{input.from, input.key};
        const Pill& target = nodes_[i].inputs[k];
        const Point start = exit_of(net), end{target.box.centre(), target.box.y};
        std::vector<Point> points{start};
        if (needs_lane(input, i)) {
          const double out = track_y(net, nodes_[input.from].row + 1), lane = lane_x(net);
          points.insert(points.end(), {{start.x, out}, {lane, out}});
          points.push_back({lane, track_y(net, nodes_[i].row)});
        } else {
          points.push_back({start.x, track_y(net, nodes_[i].row)});
        }
        points.push_back({end.x, track_y(net, nodes_[i].row)});
        points.push_back(end);
        edges_.push_back(std::move(points));
      }
  }

  DiagramLayout finish() {
    const double lanes = lanes_.empty() ? 0 : corner_room + static_cast<double>(lanes_.size()) * lane_step;
    return {.width = 2 * margin + content_width_ + 2 * stage_padding + lanes,
            .height = height_,
            .nodes = std::move(nodes_),
            .stages = std::move(stages_),
            .edges = std::move(edges_)};
  }

  const Diagram& diagram_;
  std::vector<NodeLayout> nodes_;
  std::vector<Row> rows_;
  std::vector<std::string> stage_names_;
  std::vector<StageLayout> stages_;
  std::vector<std::vector<Point>> edges_;
  std::map<std::pair<Net, std::size_t>, int> tracks_;
  std::map<Net, std::size_t> lanes_;
  double content_width_ = 0, height_ = 0;
};

}  // namespace

DiagramLayout layout_of(const Diagram& diagram) {
  return Layouter(diagram).layout();
}

}  // namespace nexuml
