// What a layer is told when it infers shapes and when it is built.
#pragma once

#include <nexuml/export.h>
#include <nexuml/shape.h>
#include <nexuml/target.h>
#include <nexuml/value.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace nexuml {

class SharedStorage;

// Tensor-free: `infer` allocates nothing. [any thread]
struct NEXUML_EXPORT LayerInferContext {
  std::string layer;  // Encoder/00_LinearEncoder, for messages
  std::vector<std::string> keys_in;
  std::vector<std::string> input_names;  // the names of dictionary-form keys_in, else equal to keys_in
  std::vector<std::string> keys_out;
  OrderedMap<TensorSpec> inputs;        // by key; every key of keys_in, shapes without the batch dimension
  std::vector<std::string> label_keys;  // empty: the layer reads no label
  bool label_in_x = false;
  OrderedMap<TensorSpec> labels;  // those of label_keys whose spec is known
  std::optional<std::int64_t> num_classes;
  OrderedMap<Value> metadata;        // by the name that meta_in gives it
  const Targets* targets = nullptr;  // the target table

  // The spec of the i-th input. Throws Error E807 when there are fewer.
  const TensorSpec& input(std::size_t index = 0) const;
  const std::string& output_key(std::size_t index = 0) const;
  // Metadata that the layer cannot work without. Throws Error E805 naming it.
  const Value& required_metadata(const std::string& name) const;
  // The number of classes. Throws Error E806 when neither the scenario nor the data tells it.
  std::int64_t required_num_classes() const;
  // One output: the usual answer of `infer`. Throws Error E808 unless keys_out lists exactly one key.
  Shapes single_output(TensorSpec spec) const;
  // One output for each input, for layers that only override `forward_tensor`. Throws Error E808 unless
  // keys_out lists as many keys as keys_in, or none.
  Shapes output_per_input(const std::function<TensorSpec(const TensorSpec& input)>& output) const;
  // Throws Error E807 naming the layer.
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;
};

struct LayerBuildContext : LayerInferContext {
  std::shared_ptr<SharedStorage> storage;  // one per pipeline
  std::int64_t delay_epochs = 0;
  std::int64_t update_every_n_epochs = 1;
  std::stop_token stop;  // a long build polls it
};

}  // namespace nexuml
