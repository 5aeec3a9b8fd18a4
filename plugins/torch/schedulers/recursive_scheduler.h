// What the schedulers share: one that asks its argument struct, Python's last argument, and the registration.
#pragma once

#include <nexuml/registration.h>
#include <nexuml/training.h>

#include <memory>
#include <string>
#include <utility>

namespace nexuml::torch_targets {

// Asks its argument struct: `next(step, base, current)` gives the lr after `step` steps.
template <class Arguments>
class RecursiveScheduler final : public Scheduler {
 public:
  RecursiveScheduler(const SchedulerBuildContext& context, Arguments arguments)
      : Scheduler(context.optimizer), arguments_(std::move(arguments)) {
    apply();
  }

 protected:
  double next_lr(std::size_t, double base, double current) const override {
    return arguments_.next(steps_taken(), base, current);
  }

 private:
  Arguments arguments_;
};

template <class Arguments>
std::shared_ptr<Scheduler> recursive_scheduler(const SchedulerBuildContext& context,
                                               const Arguments& arguments) {
  return std::make_shared<RecursiveScheduler<Arguments>>(context, arguments);
}

// Python's last argument of every scheduler; resuming goes through checkpoints instead.
template <class T>
void describe_last_epoch(Schema<T>& s) {
  s.field("last_epoch", &T::last_epoch)
      .doc("Must stay -1: a run resumes from its checkpoint.")
      .at_least(-1)
      .at_most(-1);
}

template <class T>
void add_scheduler(Registration& registry, const std::string& name) {
  registry.add_target<T>("torch.optim.lr_scheduler:" + name, {.aliases = {}, .injected = {"optimizer"}});
}

}  // namespace nexuml::torch_targets
