// CheckpointHook: saves the training every few steps or epochs, and keeps of what it saved what the rules
// name.
//
//     CheckpointHook hook({.every_steps = 100, .keep_last = 3, .keep_best = 1, .metric = "val/loss"});
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/training.h>
#include <nexuml/training_strategy.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT CheckpointHook final : public Callback {
 public:
  using Options = CheckpointRules;

  explicit CheckpointHook(Options options) : options_(std::move(options)) {}

  void train_batch_end(TrainingView& view) override;
  // Throws Error E812 when no epoch gives the metric of `keep_best`.
  void epoch_end(TrainingView& view) override;

  TrainingState state() const override;
  void load_state(const TrainingState& state) override;
  // After `load_state` from this checkpoint: it is one of those that the rules speak of. Null: the training
  // goes on in another folder, whose checkpoints begin anew.
  void continue_from(std::optional<std::int64_t> index);

 private:
  struct Saved {
    std::int64_t index = -1;
    std::int64_t number = 0;      // the step, or the epoch, after which it was saved
    std::optional<double> score;  // finite
  };
  void save(TrainingView& view, std::int64_t number, std::optional<double> score);
  std::optional<double> score_of(const TrainingView& view) const;
  bool is_best(const Saved& entry) const;
  bool is_kept(std::size_t position) const;
  void prune(TrainingView& view);

  const Options options_;
  std::vector<Saved> saved_;      // oldest first
  std::optional<Saved> pending_;  // the one that is being saved: its own state names it
  std::int64_t last_step_ = -1;   // no step is saved twice
};

}  // namespace nexuml
