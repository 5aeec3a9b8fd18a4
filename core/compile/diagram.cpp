#include "compile/diagram.h"

#include <unordered_map>

namespace nexuml {
namespace {

// `torch::nn::LinearImpl` -> `Linear`
std::string short_type(const torch::nn::Module& module) {
  std::string name = module.name();
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

std::int64_t parameters_of(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

DiagramModule module_tree(const std::string& name, const torch::nn::Module& module) {
  DiagramModule node{name, short_type(module), parameters_of(module), {}};
  for (const auto& child : module.named_children())
    node.children.push_back(module_tree(child.key(), *child.value()));
  return node;
}

class DiagramMaker {
 public:
  DiagramMaker(const CompiledPipeline& pipeline, const ScenarioSpec& scenario)
      : pipeline_(pipeline), scenario_(scenario) {
    diagram_.scenario = scenario.name;
    if (scenario.logging && scenario.logging->diagram) diagram_.options = *scenario.logging->diagram;
  }

  Diagram make() {
    DiagramNode data{.stage = {}, .module = {.name = "data", .type = "data"}};
    diagram_.nodes.push_back(std::move(data));
    for (const auto& [key, spec] : pipeline_.input_specs()) write(0, key, &spec);
    for (const PipelineEntry& entry : pipeline_.layers()) add(entry);
    return std::move(diagram_);
  }

 private:
  void add(const PipelineEntry& entry) {
    const std::size_t self = diagram_.nodes.size();
    diagram_.nodes.push_back({.stage = entry.stage, .module = module_tree(entry.name, *entry.layer)});
    for (const std::string& key : entry.layer->keys_in()) read(self, key);
    if (entry.layer->label_in_x())
      for (const std::string& key : entry.layer->label_keys()) read(self, key);
    for (const std::string& key : entry.layer->keys_out()) write(self, key, entry.outputs.find(key));
  }

  void read(std::size_t node, const std::string& key) {
    const auto found = writers_.find(key);
    if (found == writers_.end()) return;
    for (DiagramOutput& output : diagram_.nodes[found->second].outputs) {
      if (output.key != key) continue;
      output.read = true;
      diagram_.nodes[node].inputs.push_back({found->second, key, output.shape});
    }
  }

  void write(std::size_t node, const std::string& key, const TensorSpec* spec) {
    writers_[key] = node;
    DiagramOutput output{.key = key, .shape = spec ? to_string(spec->shape) : std::string()};
    if (const double* weight = scenario_.training.loss_keys.find(key)) {
      output.role = KeyRole::loss;
      output.weight = *weight;
    } else {
      for (const std::string& metric : scenario_.training.metric_keys)
        if (metric == key) output.role = KeyRole::metric;
    }
    diagram_.nodes[node].outputs.push_back(std::move(output));
  }

  const CompiledPipeline& pipeline_;
  const ScenarioSpec& scenario_;
  Diagram diagram_;
  std::unordered_map<std::string, std::size_t> writers_;
};

Value module_value(const DiagramModule& module) {
  Value children = Value::list();
  for (const DiagramModule& child : module.children) children.push_back(module_value(child));
  return Value::map({{"name", module.name},
                     {"type", module.type},
                     {"parameters", module.parameters},
                     {"children", std::move(children)}});
}

Value output_value(const DiagramOutput& output) {
  Value value = Value::map({{"key", output.key}, {"shape", output.shape}, {"role", to_string(output.role)}});
  if (output.role == KeyRole::loss) value.set("weight", output.weight);
  return value;
}

}  // namespace

Diagram diagram_of(const CompiledPipeline& pipeline, const ScenarioSpec& scenario) {
  return DiagramMaker(pipeline, scenario).make();
}

std::string_view to_string(KeyRole role) noexcept {
  constexpr std::string_view names[] = {"plain", "loss", "metric"};
  return names[static_cast<std::size_t>(role)];
}

std::string with_thousands(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool between_digits = i > 0 && digits[i - 1] != '-';
    if (between_digits && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::int64_t stage_parameters(const Diagram& diagram, const std::string& stage) {
  std::int64_t count = 0;
  for (const DiagramNode& node : diagram.nodes)
    if (node.stage == stage) count += node.module.parameters;
  return count;
}

Value diagram_value(const CompiledPipeline& pipeline, const ScenarioSpec& scenario) {
  const Diagram diagram = diagram_of(pipeline, scenario);
  Value nodes = Value::list(), edges = Value::list();
  for (std::size_t i = 0; i < diagram.nodes.size(); ++i) {
    const DiagramNode& node = diagram.nodes[i];
    Value outputs = Value::list();
    for (const DiagramOutput& output : node.outputs) outputs.push_back(output_value(output));
    Value value = module_value(node.module);
    value.set("stage", node.stage);
    value.set("outputs", std::move(outputs));
    nodes.push_back(std::move(value));
    for (const DiagramInput& input : node.inputs)
      edges.push_back(
          Value::map({{"from", input.from}, {"to", i}, {"key", input.key}, {"shape", input.shape}}));
  }
  return Value::map(
      {{"scenario", diagram.scenario}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}});
}

}  // namespace nexuml
