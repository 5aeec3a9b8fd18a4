#include "train/intra_op_threads.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace nexuml {

namespace {

// Multiplications of one step below which a second thread was measured to slow training down (linear
// auto-encoder, two cores: 1.3 million take 0.5 ms on one thread and 2 ms on two).
constexpr double small_step = 64e6;

// Positions at which a layer applies its weights: [channels, height, width] has height * width of them.
double positions(const CompiledPipeline& pipeline, const std::vector<std::string>& keys) {
  double most = 1;
  for (const std::string& key : keys) {
    const TensorSpec* spec = pipeline.specs().find(key);
    if (!spec || spec->shape.size() < 2) continue;
    double product = 1;
    for (std::size_t i = 1; i < spec->shape.size(); ++i)
      product *= static_cast<double>(std::max<std::int64_t>(1, spec->shape[i]));
    most = std::max(most, product);
  }
  return most;
}

}  // namespace

int default_intra_op_threads(const CompiledPipeline& pipeline, std::int64_t batch_size) {
  double multiplications = 0;
  for (const PipelineEntry& entry : pipeline.layers()) {
    double weights = 0;
    for (const at::Tensor& parameter : entry.layer->parameters())
      weights += static_cast<double>(parameter.numel());
    const double at =
        std::max(positions(pipeline, entry.layer->keys_in()), positions(pipeline, entry.layer->keys_out()));
    multiplications += weights * at * static_cast<double>(batch_size);
  }
  return multiplications < small_step ? 1 : at::get_num_threads();
}

}  // namespace nexuml
