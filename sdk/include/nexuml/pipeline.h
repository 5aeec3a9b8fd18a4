// CompiledPipeline: the layers of a scenario, built and in order.
//
//     std::shared_ptr<CompiledPipeline> pipeline = compile(scenario, {.registry = registry});
//     Batch batch{.x = {{"features", torch::randn({64, 128})}}};
//     pipeline->forward(batch);
//     batch.x.get("latent");
//
// Parameters are named `stages.<Stage>.<NN_Component>.<parameter>`, buffers likewise. One thread uses a
// pipeline at a time.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/export.h>
#include <nexuml/layer.h>
#include <nexuml/ordered_map.h>
#include <nexuml/shape.h>
#include <nexuml/storage.h>
#include <nexuml/tensor_dict.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

namespace nexuml {

// One layer of a pipeline, in its place.
struct PipelineEntry {
  std::string stage;
  std::string name;    // 00_LinearEncoder
  AnyLayer component;  // what it was built from
  std::shared_ptr<PipelineLayer> layer;
  OrderedMap<TensorSpec> outputs = {};  // what it makes, by key
};

// What the compiler hands over.
struct PipelineParts {
  std::vector<PipelineEntry> layers;  // in the order in which they run
  OrderedMap<TensorSpec> inputs;      // what the data gives, by key
  OrderedMap<TensorSpec> specs;       // every key after the last layer, inputs included
  OrderedMap<Value> metadata;         // what meta_out published
  std::shared_ptr<SharedStorage> storage;
};

class NEXUML_EXPORT CompiledPipeline : public torch::nn::Module {
 public:
  explicit CompiledPipeline(PipelineParts parts);
  ~CompiledPipeline() override;

  // Runs every layer whose epoch has come. One that waits for its epoch or for its fit writes nothing, and
  // layers that read what it would have written are passed over. An exception of a layer becomes Error E825
  // naming it. [training thread]
  void forward(Batch& batch);
  // Runs layers until all requested keys exist in x and y, none when they exist already; without keys like
  // `forward`. Throws Error E801 listing the keys that no layer produced. [training thread]
  void forward_until(Batch& batch, const std::vector<std::string>& x_keys,
                     const std::vector<std::string>& y_keys = {});

  // Calls the hook on every layer in order. [training thread]
  void call_layer_hook(Hook hook);
  void set_mode(Mode mode);
  void set_epoch(std::int64_t epoch);

  const std::vector<PipelineEntry>& layers() const noexcept { return parts_.layers; }
  // `Encoder/00_LinearEncoder`; null when there is none.
  std::shared_ptr<PipelineLayer> find_layer(std::string_view layer_name) const noexcept;
  const OrderedMap<TensorSpec>& input_specs() const noexcept { return parts_.inputs; }
  const OrderedMap<TensorSpec>& specs() const noexcept { return parts_.specs; }
  const OrderedMap<Value>& metadata() const noexcept { return parts_.metadata; }
  SharedStorage& storage() const noexcept { return *parts_.storage; }

 private:
  PipelineParts parts_;
};

}  // namespace nexuml
