// TrainingRun: what lies between a scenario and its numbers, for the commands that train, evaluate and
// replay.
//
//     TrainingRun run(input, open_data(input, advice, stop), advice, stop);
//     Trainer trainer(run.strategy(), run.data(), run.trainer_options());
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/pipeline.h>
#include <nexuml/training_strategy.h>

#include <memory>
#include <optional>
#include <stop_token>

#include "checkpoint/checkpoint_store.h"
#include "data/data_module.h"
#include "engine/resumed_state.h"
#include "engine/scenario_input.h"
#include "evaluate/evaluation_run.h"
#include "train/trainer.h"

namespace nexuml {

std::int64_t batch_size_of(const ScenarioSpec& spec);

// Where the weights come from: what the scenario says, or a checkpoint that is loaded afterwards.
enum class FirstWeights { scenario, checkpoint };

class TrainingRun {
 public:
  // Compiles the pipeline for the data, loads the weights that `checkpoint.source` names where they are the
  // first, moves everything to the device and builds optimizer and scheduler. Throws Error.
  TrainingRun(const ScenarioInput& input, std::unique_ptr<DataModule> data, Diagnostics& advice,
              std::stop_token stop, FirstWeights first = FirstWeights::scenario);
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  const DataModule& data() const noexcept { return *data_; }
  CompiledPipeline& pipeline() const noexcept { return *pipeline_; }
  TrainingStrategy& strategy() noexcept { return strategy_; }
  TrainerOptions trainer_options() const;

  // What a checkpoint of this moment holds.
  Checkpoint checkpoint() const;
  // Continues where the checkpoint was taken: everything, bit for bit, but for what the scenario says
  // otherwise since then (`resumed_state`).
  void resume(const Checkpoint& checkpoint);
  // The weights alone.
  void load_model(const Checkpoint& checkpoint);

  // Tests with the scenario's evaluation algorithms, whose files go below `run_folder` (empty: no files). The
  // random streams start anew, so that the numbers do not depend on what ran before.
  OrderedMap<double> test(Trainer& trainer, const std::filesystem::path& run_folder);

 private:
  void load_source_weights();
  TrainingKind kind() const;
  // How to build what is trained. What did not change since the checkpoint that was resumed keeps its bytes.
  const Value& recipe() const;
  std::filesystem::path find_weights(const std::string& source) const;

  const ScenarioInput& input_;
  Diagnostics& advice_;
  std::stop_token stop_;
  std::unique_ptr<DataModule> data_;
  std::int64_t batches_ = 0;  // an epoch
  std::shared_ptr<CompiledPipeline> pipeline_;
  TrainingStrategy strategy_;
  Value resumed_recipe_;  // of the checkpoint that the run continued
  mutable Value recipe_;  // made for the first checkpoint
};

}  // namespace nexuml
