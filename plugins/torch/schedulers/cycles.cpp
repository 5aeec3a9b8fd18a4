// Schedulers along cosines and cycles: CosineAnnealingWarmRestarts, OneCycleLR, WarmupCosineLR.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <variant>
#include <vector>

#include "schedulers/recursive_scheduler.h"
#include "schedulers/schedulers.h"

namespace nexuml::torch_targets {
namespace {

struct CosineAnnealingWarmRestarts {
  std::int64_t T_0 = 1;
  std::int64_t T_mult = 1;
  double eta_min = 0;
  std::int64_t last_epoch = -1;

  static void describe(Schema<CosineAnnealingWarmRestarts>& s) {
    s.summary("Half a cosine down to eta_min, again and again: SGDR (Loshchilov and Hutter, 2017).");
    s.field("T_0", &CosineAnnealingWarmRestarts::T_0)
        .doc("Steps until the first restart.")
        .required()
        .at_least(1);
    s.field("T_mult", &CosineAnnealingWarmRestarts::T_mult)
        .doc("Grows each cycle by this factor.")
        .at_least(1);
    s.field("eta_min", &CosineAnnealingWarmRestarts::eta_min);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double base, double) const {
    std::int64_t cycle = T_0;
    if (T_mult == 1) step %= cycle;
    while (step >= cycle) {
      step -= cycle;
      cycle *= T_mult;
    }
    const double angle = std::numbers::pi * static_cast<double>(step) / static_cast<double>(cycle);
    return eta_min + (base - eta_min) * (1 + std::cos(angle)) / 2;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

using RatePerGroup = std::variant<double, std::vector<double>>;

double of_group(const RatePerGroup& rates, std::size_t group) {
  if (const auto* list = std::get_if<std::vector<double>>(&rates)) return list->at(group);
  return std::get<double>(rates);
}

void require_a_rate_per_group(const RatePerGroup& rates, const char* argument, std::size_t groups) {
  if (const auto* list = std::get_if<std::vector<double>>(&rates); list && list->size() != groups)
    throw Error("E840", fmt::format("{} has {} values, the optimizer has {} groups of parameters", argument,
                                    list->size(), groups));
}

struct OneCycleLR {
  RatePerGroup max_lr = 0.0;
  std::optional<std::int64_t> total_steps;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> steps_per_epoch;
  double pct_start = 0.3;
  std::string anneal_strategy = "cos";
  bool cycle_momentum = true;
  RatePerGroup base_momentum = 0.85;
  RatePerGroup max_momentum = 0.95;
  double div_factor = 25.0;
  double final_div_factor = 1e4;
  bool three_phase = false;
  std::int64_t last_epoch = -1;

  static void describe(Schema<OneCycleLR>& s);
  std::int64_t steps() const { return total_steps ? *total_steps : *epochs * *steps_per_epoch; }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const;
};

void OneCycleLR::describe(Schema<OneCycleLR>& s) {
  s.summary("Up to max_lr and down to almost nothing over the whole training (Smith and Topin, 2018).");
  s.field("max_lr", &OneCycleLR::max_lr).doc("The top, once or per group.").required();
  s.field("total_steps", &OneCycleLR::total_steps).doc("Null: epochs times steps_per_epoch.").at_least(1);
  s.field("epochs", &OneCycleLR::epochs).at_least(1);
  s.field("steps_per_epoch", &OneCycleLR::steps_per_epoch).at_least(1);
  s.field("pct_start", &OneCycleLR::pct_start).doc("Share of the steps that rise.").at_least(0).at_most(1);
  s.field("anneal_strategy", &OneCycleLR::anneal_strategy).one_of({"cos", "linear"});
  s.field("cycle_momentum", &OneCycleLR::cycle_momentum)
      .doc("Moves momentum, or the first beta, against the rate; optimizers without either are left alone.");
  s.field("base_momentum", &OneCycleLR::base_momentum);
  s.field("max_momentum", &OneCycleLR::max_momentum);
  s.field("div_factor", &OneCycleLR::div_factor).doc("Starts at max_lr / div_factor.").greater_than(0);
  s.field("final_div_factor", &OneCycleLR::final_div_factor)
      .doc("Ends at the start divided by this.")
      .greater_than(0);
  s.field("three_phase", &OneCycleLR::three_phase).doc("Comes back to the start before it fades out.");
  describe_last_epoch(s);
  s.check([](const OneCycleLR& cycle, RuleProblems& problems) {
    if (!cycle.total_steps && !(cycle.epochs && cycle.steps_per_epoch))
      problems.add("total_steps", "either total_steps, or epochs and steps_per_epoch, are needed");
  });
}

class OneCycle final : public Scheduler {
 public:
  OneCycle(const SchedulerBuildContext& context, const OneCycleLR& arguments)
      : Scheduler(context.optimizer), arguments_(arguments) {
    const std::size_t groups = context.optimizer.groups().size();
    require_a_rate_per_group(arguments_.max_lr, "max_lr", groups);
    require_a_rate_per_group(arguments_.base_momentum, "base_momentum", groups);
    require_a_rate_per_group(arguments_.max_momentum, "max_momentum", groups);
    apply();
    apply_momentum();
  }

  void step() override {
    if (steps_taken() >= arguments_.steps())
      throw Error("E840",
                  fmt::format("OneCycleLR was made for {} steps, one more was taken", arguments_.steps()), {},
                  "set total_steps to the steps that the training takes");
    Scheduler::step();
    apply_momentum();
  }
  void load_state(const TrainingState& state) override {
    Scheduler::load_state(state);
    apply_momentum();
  }

 protected:
  double next_lr(std::size_t group, double, double) const override {
    const double max = of_group(arguments_.max_lr, group);
    const double initial = max / arguments_.div_factor;
    return annealed(initial, max, initial / arguments_.final_div_factor);
  }

 private:
  // Which phase the step lies in, and the share of it that is done.
  struct Progress {
    std::size_t phase;
    double share;
  };
  Progress progress() const {
    const auto total = static_cast<double>(arguments_.steps());
    const double rise = arguments_.pct_start * total - 1;
    const std::vector<double> ends = arguments_.three_phase
                                         ? std::vector{rise, 2 * arguments_.pct_start * total - 2, total - 1}
                                         : std::vector{rise, total - 1};
    const auto step = static_cast<double>(steps_taken());
    double start = 0;
    std::size_t phase = 0;
    while (phase + 1 < ends.size() && step > ends[phase]) start = ends[phase++];
    if (ends[phase] == start)
      throw Error("E840", fmt::format("OneCycleLR: a phase of no length; pct_start {} of {} steps",
                                      arguments_.pct_start, arguments_.steps()));
    return {phase, (step - start) / (ends[phase] - start)};
  }

  double anneal(double from, double to, double share) const {
    if (arguments_.anneal_strategy == "linear") return (to - from) * share + from;
    return to + (from - to) / 2.0 * (std::cos(std::numbers::pi * share) + 1);
  }
  // initial to top, top to bottom; with three phases from the top over initial to bottom.
  double annealed(double initial, double top, double bottom) const {
    const auto [phase, share] = progress();
    if (phase == 0) return anneal(initial, top, share);
    if (!arguments_.three_phase) return anneal(top, bottom, share);
    return phase == 1 ? anneal(top, initial, share) : anneal(initial, bottom, share);
  }

  // The momentum goes the other way, and ends where it began.
  void apply_momentum() {
    if (!arguments_.cycle_momentum) return;
    for (std::size_t group = 0; group < optimizer().groups().size(); ++group) {
      std::optional<double>& momentum = optimizer().groups()[group].momentum;
      if (!momentum) continue;
      const double max = of_group(arguments_.max_momentum, group);
      momentum = annealed(max, of_group(arguments_.base_momentum, group), max);
    }
  }

  const OneCycleLR arguments_;
};

std::shared_ptr<Scheduler> OneCycleLR::build(const SchedulerBuildContext& context) const {
  return std::make_shared<OneCycle>(context, *this);
}

struct WarmupCosineLR {
  std::optional<std::int64_t> warmup_epochs;
  std::int64_t max_epochs = 1;
  double min_lr = 0;
  std::int64_t last_epoch = -1;

  static void describe(Schema<WarmupCosineLR>& s) {
    s.summary("A straight line from min_lr up to the base rate, then half a cosine back to min_lr.");
    s.field("warmup_epochs", &WarmupCosineLR::warmup_epochs)
        .doc("Steps that rise. Null: training.scheduler.warmup.")
        .at_least(0);
    s.field("max_epochs", &WarmupCosineLR::max_epochs)
        .doc("The step that reaches min_lr.")
        .required()
        .at_least(1);
    s.field("min_lr", &WarmupCosineLR::min_lr).doc("A rate, not a factor.").required().at_least(0);
    describe_last_epoch(s);
    s.check([](const WarmupCosineLR& cosine, RuleProblems& problems) {
      if (cosine.warmup_epochs && *cosine.warmup_epochs >= cosine.max_epochs)
        problems.add("warmup_epochs", fmt::format("warmup_epochs {} has to be less than max_epochs {}",
                                                  *cosine.warmup_epochs, cosine.max_epochs));
    });
  }
  double next(std::int64_t step, double base, double) const {
    const std::int64_t warmup = *warmup_epochs;
    if (step < warmup)
      return min_lr + (base - min_lr) * (static_cast<double>(step) / static_cast<double>(warmup));
    const std::int64_t decay = max_epochs - warmup;
    const auto done = static_cast<double>(std::min(step - warmup, decay));
    const double cosine = 0.5 * (1.0 + std::cos(std::numbers::pi * done / static_cast<double>(decay)));
    return min_lr + (base - min_lr) * cosine;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    WarmupCosineLR resolved = *this;
    if (!resolved.warmup_epochs) resolved.warmup_epochs = context.warmup_epochs;
    if (*resolved.warmup_epochs >= max_epochs)
      throw Error("E840", fmt::format("a warm-up of {} epochs leaves none of the max_epochs {}",
                                      *resolved.warmup_epochs, max_epochs));
    for (const Optimizer::Group& group : context.optimizer.groups())
      if (min_lr > group.initial_lr)
        throw Error("E840", fmt::format("min_lr {} is above the optimizer's learning rate {}", min_lr,
                                        group.initial_lr));
    return recursive_scheduler(context, resolved);
  }
};

}  // namespace

void register_cycle_schedulers(Registration& registry) {
  add_scheduler<CosineAnnealingWarmRestarts>(registry, "CosineAnnealingWarmRestarts");
  add_scheduler<OneCycleLR>(registry, "OneCycleLR");
  registry.add_target<WarmupCosineLR>("nexuml_library.training.schedulers.warmup_cosine:WarmupCosineLR",
                                      {.aliases = {}, .injected = {"optimizer"}});
}

}  // namespace nexuml::torch_targets
