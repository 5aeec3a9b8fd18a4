#include "train/checkpoint_hook.h"

namespace nexuml {

void CheckpointHook::train_batch_end(TrainingView& view) {
  if (options_.every_steps > 0 && view.global_step() % options_.every_steps == 0) save(view);
}

void CheckpointHook::epoch_end(TrainingView& view) {
  if (options_.every_epochs > 0 && view.epoch() % options_.every_epochs == 0) save(view);
}

void CheckpointHook::save(TrainingView& view) {
  if (view.global_step() == last_step_) return;
  last_step_ = view.global_step();
  saved_.push_back(view.save_checkpoint());
  if (options_.keep_last <= 0) return;
  while (static_cast<std::int64_t>(saved_.size()) > options_.keep_last) {
    view.remove_checkpoint(saved_.front());
    saved_.pop_front();
  }
}

}  // namespace nexuml
