// The graph of a pipeline as its scenario writes it: layers in order, and which of them reads what from whom.
#pragma once

#include <nexuml/compile.h>
#include <nexuml/definition.h>
#include <nexuml/diagnostic.h>
#include <nexuml/scenario.h>
#include <nexuml/shape.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compile/place.h"

namespace nexuml {

inline constexpr int from_data = -1;
inline constexpr int from_nowhere = -2;

// What the data gives, as far as it is known.
struct DataView {
  OrderedMap<std::optional<TensorSpec>> features;
  OrderedMap<std::optional<TensorSpec>> labels;
  OrderedMap<std::int64_t> label_classes;
  std::optional<std::int64_t> num_classes;
  bool features_complete = false;  // no other key can come from the data
  bool labels_complete = false;
};

struct GraphLayer {
  const LayerSpec* spec = nullptr;
  Place place;
  std::string stage;
  std::string name;  // 00_LinearEncoder
  std::string path;  // Encoder/00_LinearEncoder
  Keys keys_in, input_names, label_keys;
  std::vector<int> sources;           // of each input: a layer, from_data or from_nowhere
  std::vector<int> label_sources;     // with label_in_x
  std::vector<int> metadata_sources;  // of each entry of meta_in
  std::optional<Shapes> shapes;       // inferred
  bool valid = true;                  // false: its component was refused, so it is asked for nothing
  bool can_infer = true;              // false: its definition has no infer
  OrderedMap<Value> metadata;         // by the name that meta_in gives it, as far as known

  bool infers() const noexcept { return shapes.has_value(); }
};

// The last writer of a key, after the layers that were visited.
struct KeyState {
  int writer = from_data;
  int creator = from_data;  // the layer that first wrote it: without that one the key does not exist
  bool used = false;
};

struct PublishedMetadata {
  int publisher = 0;
  std::optional<Value> value;  // known without building
};

struct Graph {
  std::vector<GraphLayer> layers;
  DataView data;
  std::unordered_map<std::string, KeyState> keys;
  std::vector<std::string> key_order;  // of `keys`, as they came up
  std::unordered_map<std::string, PublishedMetadata> metadata;

  // The spec of a key as a layer wrote it; nothing while it is unknown.
  std::optional<TensorSpec> spec_of(const std::string& key, int writer) const;
};

// What the data gives; declared shapes that disagree with the source are reported.
DataView view_data(const CompileInput& input, Diagnostics& problems);

// Layers, producers, labels, metadata keys: what needs no shapes.
Graph build_graph(const CompileInput& input, const CompileOptions& options, Diagnostics& problems);

// Shapes through every layer whose inputs are known; metadata values with them.
void infer_shapes(Graph& graph, const CompileOptions& options, Diagnostics& problems);

// Losses, metrics, progress keys, monitors, stages to skip, outputs nobody uses, gating.
void check_uses(Graph& graph, const CompileInput& input, Diagnostics& problems);

std::vector<std::string> key_names(const OrderedMap<TensorSpec>& specs);

// What a layer is told, from the graph alone; inputs that are not known yet are left out.
LayerInferContext infer_context(const Graph& graph, const GraphLayer& layer, const CompileOptions& options);

// Looks for the values that `meta_out` publishes: fields of the definition, then what was told about it.
std::optional<Value> attribute_of(const GraphLayer& layer, const std::string& name,
                                  const OrderedMap<Value>& told);

// The checked graph. Throws nothing; an erroneous graph must not be built.
Graph analyse(const CompileInput& input, const CompileOptions& options, Diagnostics& problems);

}  // namespace nexuml
