// CheckpointHook: saves the training every few steps or epochs, and keeps of what it saved what the rules
// name.
//
//     CheckpointHook hook({.every_steps = 100, .keep_last = 3, .keep_best = 1, .metric = "val/loss"});
//
// A checkpoint stays while one rule keeps it. With no rule all stay; with one, the newest always does.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/training.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT CheckpointHook final : public Callback {
 public:
  struct Options {
    std::int64_t every_steps = 0;   // 0: not by steps
    std::int64_t every_epochs = 0;  // 0: not by epochs
    std::int64_t keep_last = 0;     // the newest N; 0: not by age
    std::int64_t keep_every = 0;    // those of each N-th step, or epoch where it saves by epochs; 0: none
    std::int64_t keep_best = 0;     // the N with the best `metric`; 0: none
    std::string metric = "val/loss";
    bool smaller_is_better = true;
    // Told of a save that failed (Error E762); training goes on. Without it the error ends the training.
    std::function<void(const Error&)> on_failure;
  };

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
