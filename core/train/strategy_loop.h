// What a hand-written loop goes through, told to the hooks of its strategy.
#pragma once

#include <nexuml/training_strategy.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint_writer.h"
#include "train/checkpoint_hook.h"

namespace nexuml {

inline constexpr const char* checkpoints_callback = "checkpoints";

class StrategyLoop {
 public:
  bool began = false;
  std::string stop_reason;
  OrderedMap<double> metrics;  // of the epoch that ended
  bool in_epoch = false;
  OrderedMap<double> recorded;       // by hooks, of the epoch
  OrderedMap<double> step_recorded;  // by hooks, of the step

  std::optional<CheckpointStore> store;  // where `keep_checkpoints` said
  std::shared_ptr<CheckpointHook> hook;
  std::unique_ptr<CheckpointWriter> writer;  // where they are written beside training

  // The checkpoint that was loaded, and what its rules knew, until rules are set again.
  std::filesystem::path loaded_from;
  std::int64_t loaded_index = -1;
  std::optional<TrainingState> loaded_rules;

  // The hook goes on with the checkpoints that it knew, where they lie in the folder it keeps.
  void go_on_from_loaded();
};

// What hooks see of a hand-written training.
class StrategyView final : public TrainingView {
 public:
  explicit StrategyView(TrainingStrategy& strategy) : strategy_(strategy), loop_(*strategy.loop_) {}

  std::int64_t epoch() const override { return strategy_.counters.epoch; }
  std::int64_t max_epochs() const override { return strategy_.length().max_epochs; }
  std::int64_t batch() const override { return strategy_.counters.batch; }
  std::int64_t num_batches() const override { return strategy_.length().steps_per_epoch; }
  std::int64_t global_step() const override { return strategy_.counters.global_step; }
  OrderedMap<double> metrics() const override;
  const Optimizer& optimizer() const override { return strategy_.optimizer(); }
  at::Device device() const override { return strategy_.device; }
  void record(const std::string& name, double value) override { loop_.recorded[name] = value; }
  void record_step(const std::string& name, double value) override { loop_.step_recorded[name] = value; }
  void request_stop(const std::string& reason) override;
  std::int64_t next_checkpoint() const override;
  std::int64_t save_checkpoint() override;
  void remove_checkpoint(std::int64_t index) override;

  template <class Call>
  void notify(Call&& call);

 private:
  const CheckpointStore& store() const;

  TrainingStrategy& strategy_;
  StrategyLoop& loop_;
};

}  // namespace nexuml
