#include <fmt/format.h>

#include "compile/diagram.h"

namespace nexuml {
namespace {

// Inside quotes Mermaid reads HTML entities.
std::string mermaid_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"')
      result += "#quot;";
    else if (c == '<')
      result += "#lt;";
    else if (c == '>')
      result += "#gt;";
    else
      result += c;
  }
  return result;
}

class MermaidWriter {
 public:
  explicit MermaidWriter(const Diagram& diagram) : diagram_(diagram), options_(diagram.options) {}

  std::string write() {
    text_ = "# Pipeline Diagram\n\n```mermaid\n---\nconfig:\n  layout: elk\n---\n";
    line(0, "flowchart {}", options_.direction);
    line(1, "classDef input fill:#e8f1fb,stroke:#3b7dd8,color:#12365f");
    line(1, "classDef loss fill:#fdeaea,stroke:#d64545,color:#6b1717");
    line(1, "classDef metric fill:#e9f7ef,stroke:#2e9e5b,color:#0f4d2a");
    line(1, "classDef terminal stroke-dasharray:4 3");
    write_data();
    write_stages();
    for (std::size_t i = 1; i < diagram_.nodes.size(); ++i) write_edges(i);
    for (std::size_t i = 1; i < diagram_.nodes.size(); ++i) write_ends(i);
    return text_ + "```\n";
  }

 private:
  template <class... Arguments>
  void line(int depth, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }

  void write_data() {
    std::string label = "data";
    for (const DiagramOutput& output : diagram_.nodes[0].outputs)
      label += "<br/>" + mermaid_text(output.key) + shape_text(output.shape);
    line(1, "n0[(\"{}\")]:::input", label);
  }
  std::string shape_text(const std::string& shape) const {
    return options_.show_shapes && !shape.empty() ? ": " + shape : std::string();
  }
  std::string parameter_text(std::int64_t parameters) const {
    return options_.show_params && parameters > 0 ? fmt::format(" ({} params)", with_thousands(parameters))
                                                  : std::string();
  }

  void write_stages() {
    for (std::size_t i = 1; i < diagram_.nodes.size();) {
      const std::string& stage = diagram_.nodes[i].stage;
      line(1, "subgraph s{}[\"{}{}\"]", i, mermaid_text(stage),
           parameter_text(stage_parameters(diagram_, stage)));
      for (; i < diagram_.nodes.size() && diagram_.nodes[i].stage == stage; ++i)
        write_module(diagram_.nodes[i].module, fmt::format("n{}", i), 2, 1, role_class(diagram_.nodes[i]));
      line(1, "end");
    }
  }
  static std::string role_class(const DiagramNode& node) {
    for (const DiagramOutput& output : node.outputs)
      if (output.role != KeyRole::plain) return ":::" + std::string(to_string(output.role));
    return {};
  }

  void write_module(const DiagramModule& module, const std::string& id, int indent, std::int64_t depth,
                    const std::string& role) {
    const std::string label = fmt::format("{}: {}{}", mermaid_text(module.name), mermaid_text(module.type),
                                          parameter_text(module.parameters));
    if (module.children.empty() || depth >= options_.depth) {
      line(indent, "{}[\"{}\"]{}", id, label, role);
      return;
    }
    line(indent, "subgraph {}[\"{}\"]", id, label);
    for (std::size_t i = 0; i < module.children.size(); ++i)
      write_module(module.children[i], fmt::format("{}_{}", id, i), indent + 1, depth + 1, {});
    for (std::size_t i = 1; i < module.children.size(); ++i)
      line(indent + 1, "{0}_{1} --> {0}_{2}", id, i - 1, i);
    line(indent, "end");
  }

  void write_edges(std::size_t node) {
    for (const DiagramInput& input : diagram_.nodes[node].inputs)
      line(1, "n{} -->|\"{}{}\"| n{}", input.from, mermaid_text(input.key), shape_text(input.shape), node);
  }

  // Losses and metrics that no layer reads end the graph.
  void write_ends(std::size_t node) {
    if (!options_.show_metrics) return;
    for (const DiagramOutput& output : diagram_.nodes[node].outputs) {
      if (output.read || output.role == KeyRole::plain) continue;
      const std::string weight =
          output.role == KeyRole::loss ? fmt::format(" x {}", output.weight) : std::string();
      line(1, "e{}([\"{}{}\"]):::{}", ends_, mermaid_text(output.key), weight, to_string(output.role));
      line(1, "class e{} terminal", ends_);
      line(1, "n{} --> e{}", node, ends_++);
    }
  }

  const Diagram& diagram_;
  const DiagramSpec& options_;
  std::string text_;
  int ends_ = 0;
};

}  // namespace

std::string mermaid_diagram(const CompiledPipeline& pipeline, const ScenarioSpec& scenario) {
  const Diagram diagram = diagram_of(pipeline, scenario);
  return MermaidWriter(diagram).write();
}

}  // namespace nexuml
