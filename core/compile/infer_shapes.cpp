#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/graph.h"
#include "runtime/layer_failure.h"

namespace nexuml {
namespace {

// What a layer said of itself lies at its component, unless it spoke of a place of its own.
void add_located(Diagnostics& problems, const Diagnostics& found, const GraphLayer& layer) {
  for (Diagnostic problem : found) {
    const bool placed = !problem.where.file.empty() || !problem.where.key_path.empty();
    const char* part = problem.code == "E806"   ? "component"
                       : problem.code == "E808" ? "keys_out"
                                                : "component";
    if (!placed) problem.where = layer.place[part].where(layer.path);
    problems.add(std::move(problem));
  }
}

void check_outputs(const GraphLayer& layer, const Shapes& shapes, Diagnostics& problems) {
  const Keys& keys_out = layer.spec->keys_out;
  for (std::size_t i = 0; i < keys_out.size(); ++i)
    if (!shapes.outputs.contains(keys_out[i]))
      problems.error("E808",
                     fmt::format("keys_out lists '{}', which the layer does not make; it makes: {}",
                                 keys_out[i], fmt::join(key_names(shapes.outputs), ", ")),
                     layer.place["keys_out"][i].where(layer.path));
  for (const auto& [key, spec] : shapes.outputs)
    if (std::find(keys_out.begin(), keys_out.end(), key) == keys_out.end())
      problems.error("E808", fmt::format("the layer makes '{}', which keys_out does not list", key),
                     layer.place["keys_out"].where(layer.path));
}

std::vector<std::string> attribute_names(const GraphLayer& layer) {
  std::vector<std::string> names;
  for (const auto& field : layer.spec->component->schema().fields) names.push_back(field.name);
  for (const auto& [name, value] : layer.shapes->attributes) names.push_back(name);
  return names;
}

void publish_values(Graph& graph, std::size_t index, Diagnostics& problems) {
  const GraphLayer& layer = graph.layers[index];
  if (!layer.spec->meta_out) return;
  for (const auto& [attribute, key] : *layer.spec->meta_out) {
    auto& published = graph.metadata.at(key);
    if (published.publisher != static_cast<int>(index)) continue;
    published.value =
        attribute_of(layer, attribute, layer.shapes ? layer.shapes->attributes : OrderedMap<Value>());
    if (published.value || !layer.shapes) continue;
    const auto names = attribute_names(layer);
    auto& problem = problems.error(
        "E805", fmt::format("meta_out publishes '{}', which the layer does not have", attribute),
        layer.place["meta_out"].key(attribute).where(layer.path));
    problem.hint = did_you_mean(attribute, names);
    if (problem.hint.empty()) problem.hint = fmt::format("it has: {}", fmt::join(names, ", "));
  }
}

void take_metadata(Graph& graph, GraphLayer& layer) {
  if (!layer.spec->meta_in) return;
  for (const auto& [name, key] : *layer.spec->meta_in)
    if (const auto found = graph.metadata.find(key); found != graph.metadata.end() && found->second.value)
      layer.metadata[name] = *found->second.value;
}

bool everything_known(const Graph& graph, const GraphLayer& layer) {
  for (std::size_t i = 0; i < layer.keys_in.size(); ++i)
    if (!graph.spec_of(layer.keys_in[i], layer.sources[i])) return false;
  return !layer.spec->meta_in || layer.metadata.size() == layer.spec->meta_in->size();
}

}  // namespace

LayerInferContext infer_context(const Graph& graph, const GraphLayer& layer, const CompileOptions& options) {
  LayerInferContext context;
  context.layer = layer.path;
  context.keys_in = layer.keys_in;
  context.input_names = layer.input_names;
  context.keys_out = layer.spec->keys_out;
  context.label_keys = layer.label_keys;
  context.label_in_x = layer.spec->label_in_x;
  for (std::size_t i = 0; i < layer.keys_in.size(); ++i)
    if (const auto spec = graph.spec_of(layer.keys_in[i], layer.sources[i]))
      context.inputs[layer.keys_in[i]] = *spec;
  for (std::size_t i = 0; i < layer.label_keys.size(); ++i) {
    const std::string& key = layer.label_keys[i];
    const auto* from_y = graph.data.labels.find(key);
    const auto spec = layer.spec->label_in_x ? graph.spec_of(key, layer.label_sources[i])
                      : from_y               ? *from_y
                                             : std::nullopt;
    if (spec) context.labels[key] = *spec;
  }
  context.num_classes = graph.data.num_classes;
  if (!context.num_classes && layer.label_keys.size() == 1)
    if (const auto* classes = graph.data.label_classes.find(layer.label_keys.front()))
      context.num_classes = *classes;
  context.metadata = layer.metadata;
  context.targets = &options.registry;
  return context;
}

std::optional<Value> attribute_of(const GraphLayer& layer, const std::string& name,
                                  const OrderedMap<Value>& told) {
  if (const Value* value = told.find(name)) return *value;
  if (!layer.spec->component->schema().find(name)) return std::nullopt;
  const Value params = layer.spec->component.params();
  const Value* value = params.find(name);
  // A field that stands only where it was set has its default.
  return value ? *value : layer.spec->component->schema().find(name)->default_value;
}

void infer_shapes(Graph& graph, const CompileOptions& options, Diagnostics& problems) {
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    GraphLayer& layer = graph.layers[i];
    if (!layer.valid) continue;
    take_metadata(graph, layer);
    if (everything_known(graph, layer)) try {
        layer.shapes = layer.spec->component->infer(infer_context(graph, layer, options));
        layer.can_infer = layer.shapes.has_value();
        if (layer.shapes) check_outputs(layer, *layer.shapes, problems);
      } catch (...) {
        add_located(problems, failure_of(layer.path, "E807", "while it inferred its shapes"), layer);
      }
    if (!layer.can_infer)
      problems.note("W815", "the layer cannot tell its shapes; they are known once it is built",
                    layer.place["component"].where(layer.path));
    publish_values(graph, i, problems);
  }
}

}  // namespace nexuml
