// TrainingStrategy: everything that a training run is at one moment, in one object.
//
//     TrainingStrategy strategy{.pipeline = pipeline, .optimizer = optimizer, .scheduler = scheduler};
//     StrategyState saved = strategy.state();      // between two steps
//     ...
//     strategy.restore(saved);                     // continues with the same bits on the CPU
#pragma once

#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/tensor_io.h>
#include <nexuml/training.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "train/weighted_means.h"

namespace nexuml {

struct TrainingCounters {
  std::int64_t epoch = 0;        // epochs done
  std::int64_t batch = 0;        // batches done of the epoch in progress
  std::int64_t global_step = 0;  // batches done in all
};

// `tensors` and `scalars` hold what is not a weight, by the names of `TrainingStrategy::state`.
struct StrategyState {
  TensorMap model;
  TensorMap tensors;
  Value scalars = Value::map();
};

struct NamedCallback {
  std::string name;  // unique; names its state in checkpoints
  std::shared_ptr<Callback> callback;
};

struct NEXUML_EXPORT TrainingStrategy {
  std::shared_ptr<CompiledPipeline> pipeline;
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Scheduler> scheduler;
  std::vector<NamedCallback> callbacks;
  TrainingCounters counters;
  WeightedMeans epoch_means;  // of the epoch in progress
  at::Device device = at::kCPU;

  // Weights and buffers under `model`; the rest as tensors `optimizer/…`, `scheduler/…`, `callback/<name>/…`,
  // `means/…`, `random/…` and scalars of the same parts. Tensors are shared, not copied.
  StrategyState state() const;
  // All or nothing. Throws Error E760 or E842 naming what does not fit; then everything is as it was.
  void restore(const StrategyState& state);
  // Parts of callbacks in `state` that no callback of this strategy takes: "callback/early_stopping".
  std::vector<std::string> unclaimed(const StrategyState& state) const;

 private:
  void apply(const StrategyState& state);
};

}  // namespace nexuml
