#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/diagnostic.h>
#include <nexuml/pipeline.h>

#include <algorithm>
#include <functional>
#include <set>

#include "runtime/layer_failure.h"

namespace nexuml {
namespace {

// Layers are addressed by stage, so that parameters are `stages.<Stage>.<NN_Component>.<parameter>`.
std::shared_ptr<torch::nn::Module> stage_tree(const std::vector<PipelineEntry>& layers) {
  auto stages = std::make_shared<torch::nn::Module>("stages");
  std::shared_ptr<torch::nn::Module> stage;
  std::string stage_name;
  for (const PipelineEntry& entry : layers) {
    if (!stage || entry.stage != stage_name) {
      stage_name = entry.stage;
      stage = stages->register_module(stage_name, std::make_shared<torch::nn::Module>(stage_name));
    }
    stage->register_module(entry.name, entry.layer);
  }
  return stages;
}

bool gated(Mode mode) {
  return mode == Mode::training || mode == Mode::validating || mode == Mode::testing;
}

std::vector<std::string> missing_keys(const TensorDict* dict, const std::vector<std::string>& keys) {
  std::vector<std::string> missing;
  for (const std::string& key : keys)
    if (!dict || !dict->contains(key)) missing.push_back(key);
  return missing;
}

bool missing_any(const TensorDict& dict, const std::vector<std::string>& keys) {
  return !std::ranges::all_of(keys, [&](const std::string& key) { return dict.contains(key); });
}

// Keys that layers did not write because it is not their turn: their epoch has not come, or they are not
// fitted yet. A layer that reads one is passed over, and withholds its own.
class WithheldKeys {
 public:
  bool any_of(const std::vector<std::string>& keys) const {
    return !keys_.empty() &&
           std::ranges::any_of(keys, [this](const std::string& key) { return keys_.contains(key); });
  }
  // Those that are not there from elsewhere.
  void add_missing(const std::vector<std::string>& keys, const Batch& batch) {
    for (const std::string& key : keys)
      if (!batch.x.contains(key)) keys_.insert(key);
  }

 private:
  std::set<std::string, std::less<>> keys_;
};

void run_layer(const PipelineEntry& entry, Batch& batch, WithheldKeys& withheld) {
  PipelineLayer& layer = *entry.layer;
  if (withheld.any_of(layer.keys_in()) || (gated(layer.mode()) && !layer.check_update()))
    return withheld.add_missing(layer.keys_out(), batch);
  try {
    layer.forward(batch);
  } catch (...) {
    rethrow_as_failure_of(layer.layer_name(), "E825", "while it ran");
  }
  if (missing_any(batch.x, layer.keys_out()) && dynamic_cast<const PostTrainLayer*>(&layer))
    withheld.add_missing(layer.keys_out(), batch);
}

}  // namespace

CompiledPipeline::CompiledPipeline(PipelineParts parts)
    : torch::nn::Module("pipeline"), parts_(std::move(parts)) {
  if (!parts_.storage) parts_.storage = std::make_shared<SharedStorage>();
  register_module("stages", stage_tree(parts_.layers));
}

CompiledPipeline::~CompiledPipeline() = default;

void CompiledPipeline::forward(Batch& batch) {
  WithheldKeys withheld;
  for (const PipelineEntry& entry : parts_.layers) run_layer(entry, batch, withheld);
}

void CompiledPipeline::forward_until(Batch& batch, const std::vector<std::string>& x_keys,
                                     const std::vector<std::string>& y_keys) {
  if (x_keys.empty() && y_keys.empty()) return forward(batch);
  const auto complete = [&] {
    return missing_keys(&batch.x, x_keys).empty() &&
           missing_keys(batch.y ? &*batch.y : nullptr, y_keys).empty();
  };
  WithheldKeys withheld;
  for (const PipelineEntry& entry : parts_.layers) {
    if (complete()) return;
    run_layer(entry, batch, withheld);
  }
  if (complete()) return;
  const auto missing_x = missing_keys(&batch.x, x_keys);
  const auto missing_y = missing_keys(batch.y ? &*batch.y : nullptr, y_keys);
  throw Error(
      "E801",
      fmt::format("after the last layer these keys are missing: x [{}], y [{}]; x has: {}",
                  fmt::join(missing_x, ", "), fmt::join(missing_y, ", "), fmt::join(batch.x.keys(), ", ")),
      {}, missing_x.empty() ? std::string() : did_you_mean(missing_x.front(), batch.x.keys()));
}

void CompiledPipeline::call_layer_hook(Hook hook) {
  for (const PipelineEntry& entry : parts_.layers) try {
      entry.layer->call(hook);
    } catch (...) {
      rethrow_as_failure_of(entry.layer->layer_name(), "E825",
                            fmt::format("in its hook {}", to_string(hook)));
    }
}

void CompiledPipeline::set_mode(Mode mode) {
  for (const PipelineEntry& entry : parts_.layers) entry.layer->set_mode(mode);
}

void CompiledPipeline::set_epoch(std::int64_t epoch) {
  for (const PipelineEntry& entry : parts_.layers) entry.layer->set_epoch(epoch);
}

std::shared_ptr<PipelineLayer> CompiledPipeline::find_layer(std::string_view layer_name) const noexcept {
  for (const PipelineEntry& entry : parts_.layers)
    if (entry.layer->layer_name() == layer_name) return entry.layer;
  return nullptr;
}

}  // namespace nexuml
