// Where the parts of a drawn pipeline lie, in pixels from the top left.
//
// Stages are boxes one below the other; inside, a layer lies below those that it reads in the same stage.
// Inputs enter a node from above through labelled pills, one each, so that no two labels meet. A key that is
// read further down travels in a lane of its own at the right.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "compile/diagram.h"

namespace nexuml {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double centre() const noexcept { return x + width / 2; }
  double bottom() const noexcept { return y + height; }
};

struct Pill {
  Box box;
  std::string text;
  KeyRole role = KeyRole::plain;
};

struct NodeLayout {
  std::size_t row = 0;
  Box box;
  std::vector<std::string> lines;  // title first
  std::vector<Pill> inputs;        // above the node
  std::vector<Pill> ends;          // below it: outputs that no layer reads
};

struct StageLayout {
  Box box;
  std::string title;
};

struct DiagramLayout {
  double width = 0, height = 0;
  std::vector<NodeLayout> nodes;  // by node of the diagram
  std::vector<StageLayout> stages;
  std::vector<std::vector<Point>> edges;
};

DiagramLayout layout_of(const Diagram& diagram);

}  // namespace nexuml
