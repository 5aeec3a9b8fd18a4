// Schedulers made of schedulers: SequentialLR, ChainedScheduler.
#include <fmt/format.h>
#include <nexuml/registry.h>

#include <algorithm>
#include <vector>

#include "schedulers/recursive_scheduler.h"
#include "schedulers/schedulers.h"

namespace nexuml::torch_targets {
namespace {

// A scheduler of this library, named as in a scenario.
struct PartScheduler {
  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  static void describe(Schema<PartScheduler>& s) {
    s.summary("One of the schedulers.");
    s.field("factory", &PartScheduler::factory).doc("Such as torch.optim.lr_scheduler:LinearLR.").required();
    s.field("args", &PartScheduler::args).doc("Positional arguments.");
    s.field("kwargs", &PartScheduler::kwargs).doc("Arguments by name.");
    s.factory_of(TargetKind::scheduler);
  }
};

const Targets& schedulers_of_this_library() {
  static const ComponentRegistry registry = ComponentRegistry().with_program([](Registration& own) {
    register_epoch_schedulers(own);
    register_cycle_schedulers(own);
    register_plateau_scheduler(own);
    register_composed_schedulers(own);
  });
  return registry;
}

std::shared_ptr<Scheduler> build_part(const PartScheduler& part, const SchedulerBuildContext& context,
                                      const char* whole) {
  auto scheduler = schedulers_of_this_library()
                       .make<TargetKind::scheduler>(part.factory, part.args, part.kwargs)
                       ->build(context);
  if (scheduler->monitor())
    throw Error("E840", fmt::format("{} steps without a metric and cannot hold {}", whole, part.factory));
  return scheduler;
}

// The parts write the rates; the whole only counts.
class ComposedScheduler : public Scheduler {
 public:
  ComposedScheduler(const SchedulerBuildContext& context) : Scheduler(context.optimizer) {}

  TrainingState state() const override {
    TrainingState state = Scheduler::state();
    Value parts = Value::list();
    for (const auto& part : parts_) parts.push_back(part->state().scalars);
    state.scalars.set("schedulers", std::move(parts));
    return state;
  }
  void load_state(const TrainingState& state) override {
    const Value* parts = state.scalars.find("schedulers");
    if (!parts || !parts->is_list() || parts->size() != parts_.size())
      throw Error("E842", fmt::format("saved state: 'schedulers' should be a list of {}", parts_.size()));
    for (std::size_t i = 0; i < parts_.size(); ++i)
      parts_[i]->load_state({.tensors = {}, .scalars = parts->items()[i]});
    Scheduler::load_state(state);
  }

 protected:
  double next_lr(std::size_t, double, double current) const final { return current; }

  std::vector<std::shared_ptr<Scheduler>> parts_;
};

struct SequentialLR {
  std::vector<PartScheduler> schedulers;
  std::vector<std::int64_t> milestones;
  std::int64_t last_epoch = -1;

  static void describe(Schema<SequentialLR>& s) {
    s.summary("One scheduler after another; each milestone starts the next.");
    s.field("schedulers", &SequentialLR::schedulers).required().min_size(1);
    s.field("milestones", &SequentialLR::milestones).doc("Steps, one less than schedulers.").required();
    describe_last_epoch(s);
    s.check([](const SequentialLR& sequence, RuleProblems& problems) {
      if (sequence.milestones.size() + 1 != sequence.schedulers.size())
        problems.add("milestones",
                     fmt::format("{} schedulers need {} milestones, found {}", sequence.schedulers.size(),
                                 sequence.schedulers.size() - 1, sequence.milestones.size()));
      if (!std::ranges::is_sorted(sequence.milestones)) problems.add("milestones", "milestones have to rise");
    });
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const;
};

class Sequence final : public ComposedScheduler {
 public:
  Sequence(const SchedulerBuildContext& context, const SequentialLR& arguments)
      : ComposedScheduler(context), milestones_(arguments.milestones) {
    for (const PartScheduler& part : arguments.schedulers) {
      for (Optimizer::Group& group : optimizer().groups()) group.lr = group.initial_lr;
      parts_.push_back(build_part(part, context, "SequentialLR"));
      first_lrs_.push_back(last_lr());
    }
    write(first_lrs_.front());
  }

  void step() override {
    Scheduler::step();
    const auto next = std::ranges::upper_bound(milestones_, steps_taken());
    const auto part = static_cast<std::size_t>(next - milestones_.begin());
    if (part > 0 && milestones_[part - 1] == steps_taken())
      write(first_lrs_[part]);
    else
      parts_[part]->step();
  }

 private:
  void write(const std::vector<double>& lrs) {
    for (std::size_t i = 0; i < lrs.size(); ++i) optimizer().groups()[i].lr = lrs[i];
  }

  const std::vector<std::int64_t> milestones_;
  std::vector<std::vector<double>> first_lrs_;  // what each part starts with
};

std::shared_ptr<Scheduler> SequentialLR::build(const SchedulerBuildContext& context) const {
  return std::make_shared<Sequence>(context, *this);
}

struct ChainedScheduler {
  std::vector<PartScheduler> schedulers;

  static void describe(Schema<ChainedScheduler>& s) {
    s.summary("Several schedulers in every step, each going on from the rate of the one before.");
    s.field("schedulers", &ChainedScheduler::schedulers).required().min_size(1);
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const;
};

class Chain final : public ComposedScheduler {
 public:
  Chain(const SchedulerBuildContext& context, const ChainedScheduler& arguments)
      : ComposedScheduler(context) {
    for (const PartScheduler& part : arguments.schedulers)
      parts_.push_back(build_part(part, context, "ChainedScheduler"));
  }
  void step() override {
    Scheduler::step();
    for (const auto& part : parts_) part->step();
  }
};

std::shared_ptr<Scheduler> ChainedScheduler::build(const SchedulerBuildContext& context) const {
  return std::make_shared<Chain>(context, *this);
}

}  // namespace

void register_composed_schedulers(Registration& registry) {
  add_scheduler<SequentialLR>(registry, "SequentialLR");
  add_scheduler<ChainedScheduler>(registry, "ChainedScheduler");
}

}  // namespace nexuml::torch_targets
