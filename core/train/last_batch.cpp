#include "train/last_batch.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "checkpoint/weights.h"
#include "train/random_streams.h"

namespace nexuml {

namespace {

// "BatchNorm1d" of the first batch normalisation in the layer; empty when there is none.
std::string batch_norm_in(const torch::nn::Module& layer) {
  for (const auto& module : layer.modules()) {
    const std::string name = module->name();  // torch::nn::BatchNorm1dImpl
    if (const auto at = name.rfind("BatchNorm"); at != std::string::npos)
      return name.substr(at, name.ends_with("Impl") ? name.size() - 4 - at : std::string::npos);
  }
  return {};
}

const PipelineEntry* find_entry(const CompiledPipeline& pipeline, const std::string& layer_name) {
  for (const PipelineEntry& entry : pipeline.layers())
    if (entry.layer->layer_name() == layer_name) return &entry;
  return nullptr;
}

// The layer that refuses one sample in training mode; null when all take it.
const PipelineEntry* refusing_layer(CompiledPipeline& pipeline, const DataModule& data,
                                    const at::Device& device) {
  const at::AutoGradMode no_grad(false);
  const RandomStreamsGuard random(device);
  std::vector<at::Tensor> buffers, saved;
  for (const auto& item : pipeline.named_buffers()) {
    buffers.push_back(item.value());
    saved.push_back(item.value().clone());
  }
  const bool was_training = pipeline.is_training();
  pipeline.train();
  const PipelineEntry* refusing = nullptr;
  try {
    const std::int64_t row = data.rows(Split::train).front();
    Batch batch = data.dataset().gather({&row, 1}).to(device);
    pipeline.forward(batch);
  } catch (const Error& error) {
    refusing = find_entry(pipeline, error.diagnostics().entries().front().where.layer);
  }
  pipeline.train(was_training);
  for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(saved[i]);
  return refusing;
}

}  // namespace

void check_batch_of_one(CompiledPipeline& pipeline, const DataModule& data, const at::Device& device) {
  const auto rows = static_cast<std::int64_t>(data.rows(Split::train).size());
  const std::int64_t size = data.batch_size();
  const bool ends_with_one = rows % size == 1 && !data.drop_last();
  if (rows == 0 || (size != 1 && !ends_with_one) || batch_norm_in(pipeline).empty()) return;
  const PipelineEntry* entry = refusing_layer(pipeline, data, device);
  const std::string norm = entry ? batch_norm_in(*entry->layer) : std::string();
  if (norm.empty()) return;
  const std::string batches =
      size == 1
          ? "every training batch has 1 sample (batch size 1)"
          : fmt::format("the last training batch has 1 sample ({} = {} x {} + 1)", rows, rows / size, size);
  throw Error("E848",
              fmt::format("{}, and the layer stages.{}.{} contains {}, which needs at least 2 in training",
                          batches, entry->stage, entry->name, norm),
              Where::in_layer(entry->layer->layer_name()),
              size == 1 ? "set training.batch_size to 2 or more"
                        : "set data.loader.drop_last to true, or another training.batch_size");
}

}  // namespace nexuml
