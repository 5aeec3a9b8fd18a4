// One layer in a pipeline of its own: what a unit test of a layer needs, without a scenario file or a host.
//
//     using namespace nexuml::testing;
//     at::Tensor smooth = forward(Smooth{.window = 3}, {{"features", samples}}).get("output");
//     CHECK_THROWS(one_layer(Smooth{.window = 4}, {{"features", samples}}));       // refused by its own rule
//
// The layer is compiled as in any scenario: checked, its shapes inferred from those of `inputs`, built with
// weights that are a function of the seed, tried on a batch of zeros and compared with what it inferred. What is
// wrong is thrown as nexuml::Error. [one thread]
#pragma once

#include <nexuml/compile.h>
#include <nexuml/pipeline.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/tensor_dict.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace nexuml::testing {

struct OneLayerOptions {
  Keys keys_out = {"output"};
  bool named_inputs = false;                // the keys of the inputs are the layer's names for them
  TensorDict labels;                        // what the layer's `label_key` names, all of them
  std::optional<std::int64_t> num_classes;  // of each label
  std::uint64_t seed = 0;
  Mode mode = Mode::predicting;  // Mode::training: dropout and running statistics are at work
  ComponentRegistry registry;    // where the layer names targets or other definitions
};

// Inputs are passed in the order given; all tensors start with the dimension of the batch.
inline std::shared_ptr<CompiledPipeline> one_layer(const AnyLayer& layer, const TensorDict& inputs,
                                                   const OneLayerOptions& options = {}) {
  const auto spec_of = [](const at::Tensor& tensor) {
    return TensorSpec{Shape(tensor.sizes().begin() + 1, tensor.sizes().end()),
                      dtype_of(tensor.scalar_type())};
  };
  LayerSpec spec{.component = layer, .keys_in = inputs.keys(), .keys_out = options.keys_out};
  DataDeclaration data;
  for (const auto& [key, tensor] : inputs) data.features[key] = spec_of(tensor);
  for (const auto& [key, tensor] : options.labels) {
    data.labels[key] = spec_of(tensor);
    if (options.num_classes) data.num_classes[key] = *options.num_classes;
  }
  if (!options.labels.empty()) spec.label_key = options.labels.keys();
  if (options.named_inputs) {
    NamedKeys names;
    for (const auto& key : inputs.keys()) names[key] = key;
    spec.keys_in = std::move(names);
  }
  ScenarioSpec scenario{.name = "one_layer"};
  scenario.pipeline.stages["Main"] = {std::move(spec)};
  auto pipeline = compile(CompileInput(scenario, nullptr, std::move(data)),
                          {.registry = options.registry, .seed = options.seed, .threads = 1});
  pipeline->train(options.mode == Mode::training);
  pipeline->set_mode(options.mode);
  return pipeline;
}

// What the layer makes of `inputs`, by the names in `keys_out`. Gradients are recorded.
inline TensorDict forward(const AnyLayer& layer, const TensorDict& inputs,
                          const OneLayerOptions& options = {}) {
  const auto pipeline = one_layer(layer, inputs, options);
  Batch batch{.x = inputs, .y = std::nullopt};
  if (!options.labels.empty()) batch.y = options.labels;
  pipeline->forward(batch);
  TensorDict outputs;
  for (const auto& key : options.keys_out) outputs.set(key, batch.x.get(key));
  return outputs;
}

}  // namespace nexuml::testing
