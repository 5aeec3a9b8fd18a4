// The training state of a checkpoint, made to fit a scenario that was changed since: overrides of a resumed
// run are obeyed, and what they put aside is said.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/training_strategy.h>

#include <cstdint>
#include <string>

#include "checkpoint/checkpoint_folder.h"

namespace nexuml {

// What the state of a checkpoint belongs to. Goes into Checkpoint::about and is read back from there.
struct TrainingKind {
  std::string optimizer;  // the target's own name, so that another spelling is no other optimizer
  std::string scheduler;
  std::int64_t batch_size = 0;  // what a position inside an epoch is counted in
  std::int64_t batches = 0;

  void note_in(Value& about) const;
};

struct ResumedState {
  StrategyState state;
  // Steps that a scheduler of another kind has to catch up with; 0: the saved one goes on.
  std::int64_t scheduler_steps = 0;
};

// `fresh` was built from the scenario as it is now. Another learning rate scales what was reached, another
// kind of optimizer begins without moments, another kind of scheduler at the step that was reached; each is
// noted (W767). Throws Error E842 where the checkpoint lies inside an epoch that is now divided otherwise.
ResumedState resumed_state(const Checkpoint& checkpoint, const TrainingStrategy& fresh,
                           const TrainingKind& now, Diagnostics& advice);

}  // namespace nexuml
