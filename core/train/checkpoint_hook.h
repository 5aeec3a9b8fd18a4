// CheckpointHook: saves the training every few steps or epochs.
#pragma once

#include <nexuml/export.h>
#include <nexuml/training.h>

#include <cstdint>
#include <deque>

namespace nexuml {

class NEXUML_EXPORT CheckpointHook final : public Callback {
 public:
  struct Options {
    std::int64_t every_steps = 0;   // 0: not by steps
    std::int64_t every_epochs = 0;  // 0: not by epochs
    std::int64_t keep_last = 0;     // of those that this hook saved; 0: all
  };

  explicit CheckpointHook(Options options) : options_(options) {}

  void train_batch_end(TrainingView& view) override;
  void epoch_end(TrainingView& view) override;

 private:
  void save(TrainingView& view);

  const Options options_;
  std::deque<std::int64_t> saved_;
  std::int64_t last_step_ = -1;  // no step is saved twice
};

}  // namespace nexuml
