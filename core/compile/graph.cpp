#include "compile/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "runtime/nn_module_rules.h"

namespace nexuml {
namespace {

// `Encoder[3]` in `pipeline.stages`; the entries of both are in the same order, so no search is needed.
std::vector<Place> stage_places(const Place& pipeline, const PipelineSpec& spec) {
  const Place stages = pipeline["stages"];
  std::vector<Place> places;
  places.reserve(spec.stages.size());
  for (const auto& [stage, layers] : spec.stages) places.push_back(stages[stage]);
  return places;
}

// The last part of a C++ name, usable in a parameter name.
std::string short_type_name(const std::string& name) {
  std::string text = name.substr(0, name.find('<'));
  if (const auto colons = text.rfind("::"); colons != std::string::npos) text = text.substr(colons + 2);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return text.empty() ? "Layer" : text;
}

struct Schedule {
  std::int64_t delay, every;

  bool runs_at(std::int64_t epoch) const {
    if (epoch < delay) return false;
    return every <= 0 ? epoch == delay : (epoch - delay) % every == 0;
  }
  // Whether `this` runs in every epoch in which `other` does.
  bool covers(const Schedule& other) const {
    if (other.every <= 0) return runs_at(other.delay);
    if (every <= 0) return false;
    return other.delay >= delay && (other.delay - delay) % every == 0 && other.every % every == 0;
  }
};

Schedule schedule_of(const LayerSpec& spec) {
  return {spec.delay_epochs, spec.update_every_n_epochs};
}

class GraphBuilder {
 public:
  GraphBuilder(const CompileInput& input, const CompileOptions& options, Diagnostics& problems)
      : input_(input), options_(options), problems_(problems) {}

  Graph build() {
    graph_.data = view_data(input_, problems_);
    for (const auto& [key, spec] : graph_.data.features) add_key(key, {});
    const auto& stages = input_.scenario.pipeline.stages;
    const auto places = stage_places(Place(input_.document)["pipeline"], input_.scenario.pipeline);
    std::size_t position = 0, count = 0;
    for (const auto& [stage, layers] : stages) count += layers.size();
    graph_.layers.reserve(count);
    for (const auto& [stage, layers] : stages) add_stage(stage, layers, places[position++]);
    return std::move(graph_);
  }

 private:
  bool skipped(const std::string& stage) const {
    const auto& skip = input_.scenario.data.skip_pipeline_stages;
    return std::find(skip.begin(), skip.end(), stage) != skip.end();
  }

  // `Encoder[3]`, the first layer that gives the key, wherever it stands; null when none does. The index is
  // made when the first mistake asks for it.
  const std::string* first_producer(const std::string& key) {
    if (first_producers_.empty())
      for (const auto& [stage, layers] : input_.scenario.pipeline.stages)
        for (std::size_t i = 0; !skipped(stage) && i < layers.size(); ++i)
          for (const std::string& made : layers[i].keys_out)
            first_producers_.try_emplace(made, fmt::format("{}[{}]", stage, i));
    const auto found = first_producers_.find(key);
    return found == first_producers_.end() ? nullptr : &found->second;
  }

  void add_stage(const std::string& stage, const std::vector<LayerSpec>& layers, const Place& place) {
    if (skipped(stage)) return;
    if (stage.empty() || stage.find('.') != std::string::npos)
      problems_
          .error("E813", fmt::format("'{}' cannot name a stage: parameter names are made of it", stage),
                 place.where())
          .hint = "use a name without dots";
    for (std::size_t i = 0; i < layers.size(); ++i) add_layer(stage, i, layers[i], place[i]);
  }

  void add_layer(const std::string& stage, std::size_t index, const LayerSpec& spec, const Place& place) {
    GraphLayer layer{.spec = &spec, .place = place, .stage = stage};
    layer.name = fmt::format("{:02}_{}", index, component_name(spec, place));
    layer.path = stage + "/" + layer.name;
    layer.keys_in = spec.input_keys();
    layer.input_names = layer.keys_in;
    if (const auto* named = std::get_if<NamedKeys>(&spec.keys_in)) {
      layer.input_names.clear();
      for (const auto& [name, key] : *named) layer.input_names.push_back(name);
    }
    layer.label_keys = spec.label_keys();
    if (!spec.component.has_value())
      problems_.error("E813", "the layer has no component", place.where(layer.path));
    layer.valid = spec.component.has_value();
    check_component(layer);
    check_nn_module(layer);
    connect_inputs(layer);
    connect_labels(layer);
    connect_metadata(layer);
    publish_outputs(layer);
    publish_metadata(layer);
    graph_.layers.push_back(std::move(layer));
  }

  // As the document spells it: a component that could not be read has a stand-in in the spec.
  std::string component_name(const LayerSpec& spec, const Place& place) const {
    const Value* component = place.value() ? place.value()->find("component") : nullptr;
    const Value* type = component ? component->find("type") : nullptr;
    if (type && type->is_string()) return type->as_string();
    if (!spec.component.has_value()) return "Layer";
    if (const auto identity = options_.registry.identity_of(spec.component)) return identity->name;
    return short_type_name(spec.component->schema().name);
  }

  // A document was checked when it was read; a scenario made in code has seen no registry yet.
  void check_component(GraphLayer& layer) {
    if (input_.document || !layer.spec->component.has_value()) return;
    Diagnostics found;
    try {
      (void)check_value(layer.spec->component->schema(), layer.spec->component.params(&options_.registry),
                        {&options_.registry, layer.place["component"]["params"].key_path()}, found);
    } catch (const Error&) {
      return;  // it holds a definition that is registered nowhere, which compiles all the same
    }
    layer.valid = !found.has_errors();
    for (Diagnostic problem : found) {
      problem.where.layer = layer.path;
      problems_.add(std::move(problem));
    }
  }

  void check_nn_module(GraphLayer& layer) {
    const NnModule* module = layer.spec->component.get_if<NnModule>();
    if (!module) return;
    const auto problem =
        keys_problem(*module, layer.keys_in.size(), layer.spec->keys_out.size(), !layer.label_keys.empty());
    if (!problem) return;
    layer.valid = false;
    problems_.error("E808", *problem, layer.place["keys_in"].where(layer.path)).hint = keys_problem_hint;
  }

  Place input_place(const GraphLayer& layer, std::size_t index) const {
    const Place keys = layer.place["keys_in"];
    return std::holds_alternative<NamedKeys>(layer.spec->keys_in) ? keys[layer.input_names[index]]
                                                                  : keys[index];
  }

  void connect_inputs(GraphLayer& layer) {
    for (std::size_t i = 0; i < layer.keys_in.size(); ++i) {
      const std::string& key = layer.keys_in[i];
      KeyState* state = find_key(key);
      if (!state && !graph_.data.features_complete) {
        assume_from_data(layer, key, input_place(layer, i));
        state = find_key(key);
      }
      layer.sources.push_back(state ? state->writer : from_nowhere);
      if (!state) {
        no_producer("E801", "the input", key, layer, input_place(layer, i));
        continue;
      }
      state->used = true;
      check_starving(layer, key, *state, input_place(layer, i));
    }
  }

  void assume_from_data(const GraphLayer& layer, const std::string& key, const Place& place) {
    graph_.data.features[key] = std::nullopt;
    add_key(key, {});
    problems_
        .warning("W816",
                 fmt::format("no layer gives '{}'; whether the data does is known once it is opened", key),
                 place.where(layer.path))
        .hint = fmt::format("declare its shape: data.input_shapes.{}", key);
  }

  void no_producer(const char* code, const char* what, const std::string& key, const GraphLayer& layer,
                   const Place& place) {
    auto& problem = problems_.error(
        code, fmt::format("{} '{}' is given neither by the data nor by an earlier layer", what, key),
        place.where(layer.path));
    if (layer.spec->label_in_x && graph_.data.labels.contains(key)) {
      problem.hint = fmt::format("'{}' is a label of the data: set label_in_x: false", key);
      return;
    }
    const std::string* later = first_producer(key);
    problem.hint = later ? fmt::format("{} gives it, but runs later: move its stage before this one", *later)
                         : near_hint(key, graph_.key_order);
  }

  // Distances to ten thousand names, once for each of ten thousand mistakes, would take minutes.
  std::string near_hint(const std::string& name, const std::vector<std::string>& candidates) {
    if (++hints_ > 100) return {};
    std::string hint = did_you_mean(name, candidates);
    if (hint.empty() && candidates.size() <= 12)
      hint = candidates.empty() ? "nothing is known here"
                                : fmt::format("known here: {}", fmt::join(candidates, ", "));
    return hint;
  }

  void check_starving(const GraphLayer& layer, const std::string& key, const KeyState& state,
                      const Place& place) {
    if (state.creator < 0) return;
    const GraphLayer& producer = graph_.layers[static_cast<std::size_t>(state.creator)];
    const Schedule made = schedule_of(*producer.spec), needed = schedule_of(*layer.spec);
    if (made.covers(needed)) return;
    problems_
        .error("E809",
               fmt::format("'{}' is missing in some epochs: {} runs with delay_epochs {} and "
                           "update_every_n_epochs {}, this layer with {} and {}",
                           key, producer.path, made.delay, made.every, needed.delay, needed.every),
               place.where(layer.path))
        .hint = "give both layers the same delay_epochs and update_every_n_epochs";
  }

  void connect_labels(GraphLayer& layer) {
    const Place place = layer.place["label_key"];
    for (std::size_t i = 0; i < layer.label_keys.size(); ++i) {
      const bool listed = std::holds_alternative<Keys>(*layer.spec->label_key);
      connect_label(layer, layer.label_keys[i], listed ? place[i] : place);
    }
  }

  void connect_label(GraphLayer& layer, const std::string& key, const Place& place) {
    if (layer.spec->label_in_x) {
      KeyState* state = find_key(key);
      layer.label_sources.push_back(state ? state->writer : from_nowhere);
      if (state) state->used = true;
      if (!state && graph_.data.features_complete) no_producer("E803", "the label", key, layer, place);
      return;
    }
    if (graph_.data.labels.contains(key) || !graph_.data.labels_complete) return;
    std::vector<std::string> labels;
    for (const auto& [name, spec] : graph_.data.labels) labels.push_back(name);
    problems_.error("E803", fmt::format("the data gives no label '{}'", key), place.where(layer.path)).hint =
        find_key(key) ? fmt::format("'{}' is a key of x: set label_in_x: true", key) : near_hint(key, labels);
  }

  void connect_metadata(GraphLayer& layer) {
    if (!layer.spec->meta_in) return;
    for (const auto& [name, key] : *layer.spec->meta_in) {
      const auto found = graph_.metadata.find(key);
      layer.metadata_sources.push_back(found == graph_.metadata.end() ? from_nowhere
                                                                      : found->second.publisher);
      if (found != graph_.metadata.end()) continue;
      std::vector<std::string> published;
      for (const auto& [published_key, by] : graph_.metadata) published.push_back(published_key);
      std::sort(published.begin(), published.end());
      problems_
          .error("E805", fmt::format("meta_in reads '{}', which no earlier layer publishes", key),
                 layer.place["meta_in"][name].where(layer.path))
          .hint = near_hint(key, published);
    }
  }

  void publish_outputs(const GraphLayer& layer) {
    const int self = static_cast<int>(graph_.layers.size());
    std::unordered_set<std::string> written;
    for (std::size_t i = 0; i < layer.spec->keys_out.size(); ++i) {
      const std::string& key = layer.spec->keys_out[i];
      const Place place = layer.place["keys_out"][i];
      if (!written.insert(key).second) {
        problems_.error("E802", fmt::format("keys_out lists '{}' twice", key), place.where(layer.path));
        continue;
      }
      KeyState* state = find_key(key);
      if (!state) {
        add_key(key, {.writer = self, .creator = self});
        continue;
      }
      const bool in_place = std::find(layer.keys_in.begin(), layer.keys_in.end(), key) != layer.keys_in.end();
      if (!in_place) overwrites(layer, key, *state, place);
      state->writer = self;
      state->used = false;
    }
  }

  void overwrites(const GraphLayer& layer, const std::string& key, const KeyState& state,
                  const Place& place) {
    const std::string owner = state.writer < 0
                                  ? "the data gives"
                                  : graph_.layers[static_cast<std::size_t>(state.writer)].path + " writes";
    problems_
        .error("E802", fmt::format("the output '{}' overwrites a key that {}", key, owner),
               place.where(layer.path))
        .hint = fmt::format("use another key, or list '{}' in keys_in to change it in place", key);
  }

  void publish_metadata(const GraphLayer& layer) {
    if (!layer.spec->meta_out) return;
    const int self = static_cast<int>(graph_.layers.size());
    for (const auto& [attribute, key] : *layer.spec->meta_out) {
      const auto [place, added] = graph_.metadata.try_emplace(key, PublishedMetadata{self, std::nullopt});
      if (added) continue;
      const GraphLayer* earlier = place->second.publisher == self
                                      ? &layer
                                      : &graph_.layers[static_cast<std::size_t>(place->second.publisher)];
      problems_
          .error("E805", fmt::format("meta_out publishes '{}' again, {} did before", key, earlier->path),
                 layer.place["meta_out"][attribute].where(layer.path))
          .hint = "use another key";
    }
  }

  KeyState* find_key(const std::string& key) {
    const auto found = graph_.keys.find(key);
    return found == graph_.keys.end() ? nullptr : &found->second;
  }
  void add_key(const std::string& key, KeyState state) {
    if (graph_.keys.try_emplace(key, state).second) graph_.key_order.push_back(key);
  }

  const CompileInput& input_;
  const CompileOptions& options_;
  Diagnostics& problems_;
  Graph graph_;
  std::unordered_map<std::string, std::string> first_producers_;
  int hints_ = 0;
};

}  // namespace

std::vector<std::string> key_names(const OrderedMap<TensorSpec>& specs) {
  std::vector<std::string> names;
  for (const auto& [name, spec] : specs) names.push_back(name);
  return names;
}

std::optional<TensorSpec> Graph::spec_of(const std::string& key, int writer) const {
  if (writer == from_nowhere) return std::nullopt;
  if (writer == from_data) {
    const auto* spec = data.features.find(key);
    return spec ? *spec : std::nullopt;
  }
  const GraphLayer& layer = layers[static_cast<std::size_t>(writer)];
  const TensorSpec* spec = layer.shapes ? layer.shapes->outputs.find(key) : nullptr;
  return spec ? std::optional(*spec) : std::nullopt;
}

Graph build_graph(const CompileInput& input, const CompileOptions& options, Diagnostics& problems) {
  return GraphBuilder(input, options, problems).build();
}

}  // namespace nexuml
