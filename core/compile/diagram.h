// A pipeline as a picture sees it: nodes, who reads what from whom, what is a loss and what a metric.
#pragma once

#include <nexuml/compile.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nexuml {

enum class KeyRole { plain, loss, metric };

// A module inside a layer.
struct DiagramModule {
  std::string name;
  std::string type;
  std::int64_t parameters = 0;
  std::vector<DiagramModule> children;
};

// A key that a node reads; `from` is the index of the node that wrote it.
struct DiagramInput {
  std::size_t from = 0;
  std::string key;
  std::string shape;  // "[8]", empty where nothing is known
};

struct DiagramOutput {
  std::string key;
  std::string shape;
  KeyRole role = KeyRole::plain;
  double weight = 0;  // of a loss
  bool read = false;  // by a later node
};

// Node 0 is the data.
struct DiagramNode {
  std::string stage;
  DiagramModule module;  // the layer itself
  std::vector<DiagramInput> inputs;
  std::vector<DiagramOutput> outputs;
};

struct Diagram {
  std::string scenario;
  std::vector<DiagramNode> nodes;
  DiagramSpec options;
};

Diagram diagram_of(const CompiledPipeline& pipeline, const ScenarioSpec& scenario);

std::string with_thousands(std::int64_t count);  // 1,234,567
std::int64_t stage_parameters(const Diagram& diagram, const std::string& stage);
std::string_view to_string(KeyRole role) noexcept;

}  // namespace nexuml
