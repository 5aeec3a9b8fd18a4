// ReduceLROnPlateau: smaller steps once a metric stops getting better.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "schedulers/recursive_scheduler.h"
#include "schedulers/schedulers.h"

namespace nexuml::torch_targets {
namespace {

struct ReduceLROnPlateau {
  std::string mode = "min";
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  std::string threshold_mode = "rel";
  std::int64_t cooldown = 0;
  std::variant<double, std::vector<double>> min_lr = 0.0;
  double eps = 1e-8;
  std::string monitor = "val/loss";

  static void describe(Schema<ReduceLROnPlateau>& s) {
    s.summary(
        "Multiplies the learning rate by factor when the metric did not get better for patience epochs.");
    s.field("mode", &ReduceLROnPlateau::mode).doc("Whether less or more is better.").one_of({"min", "max"});
    s.field("factor", &ReduceLROnPlateau::factor).less_than(1);
    s.field("patience", &ReduceLROnPlateau::patience).doc("Epochs without progress that are borne.");
    s.field("threshold", &ReduceLROnPlateau::threshold).doc("Changes below it are no progress.");
    s.field("threshold_mode", &ReduceLROnPlateau::threshold_mode)
        .doc("A share of the best value, or an amount.")
        .one_of({"rel", "abs"});
    s.field("cooldown", &ReduceLROnPlateau::cooldown).doc("Epochs after a reduction that do not count.");
    s.field("min_lr", &ReduceLROnPlateau::min_lr).doc("Lower bound, once or per group.");
    s.field("eps", &ReduceLROnPlateau::eps).doc("Smaller reductions are not made.");
    s.field("monitor", &ReduceLROnPlateau::monitor).doc("The metric of the epoch that is watched.");
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const;
};

class Plateau final : public Scheduler {
 public:
  Plateau(const SchedulerBuildContext& context, const ReduceLROnPlateau& arguments)
      : Scheduler(context.optimizer), arguments_(arguments), best_(worst()) {
    const std::size_t groups = context.optimizer.groups().size();
    if (const auto* list = std::get_if<std::vector<double>>(&arguments_.min_lr);
        list && list->size() != groups)
      throw Error("E840", fmt::format("min_lr has {} values, the optimizer has {} groups of parameters",
                                      list->size(), groups));
  }

  std::optional<std::string> monitor() const override { return arguments_.monitor; }

  void step() override {
    throw Error("E840", "ReduceLROnPlateau follows a metric of the epoch and cannot be stepped without one");
  }
  void step_with_metric(double metric) override {
    if (is_better(metric)) {
      best_ = metric;
      bad_epochs_ = 0;
    } else {
      ++bad_epochs_;
    }
    if (cooldown_left_ > 0) {
      --cooldown_left_;
      bad_epochs_ = 0;
    }
    reduces_ = bad_epochs_ > arguments_.patience;
    if (reduces_) {
      cooldown_left_ = arguments_.cooldown;
      bad_epochs_ = 0;
    }
    Scheduler::step();
  }

  TrainingState state() const override {
    TrainingState state = Scheduler::state();
    state.scalars.set("best", best_ == worst() ? Value() : Value(best_));
    state.scalars.set("num_bad_epochs", bad_epochs_);
    state.scalars.set("cooldown_counter", cooldown_left_);
    return state;
  }
  void load_state(const TrainingState& state) override {
    const Value* best = state.scalars.find("best");
    if (!best || !(best->is_null() || best->is_number()))
      throw Error("E842", "saved state: 'best' should be a number or null");
    const std::int64_t bad_epochs = counter(state, "num_bad_epochs");
    const std::int64_t cooldown_left = counter(state, "cooldown_counter");
    Scheduler::load_state(state);
    best_ = best->is_null() ? worst() : best->as_number();
    bad_epochs_ = bad_epochs;
    cooldown_left_ = cooldown_left;
  }

 protected:
  double next_lr(std::size_t group, double, double current) const override {
    const auto* list = std::get_if<std::vector<double>>(&arguments_.min_lr);
    const double floor = list ? list->at(group) : std::get<double>(arguments_.min_lr);
    const double reduced = std::max(current * arguments_.factor, floor);
    return reduces_ && current - reduced > arguments_.eps ? reduced : current;
  }

 private:
  static std::int64_t counter(const TrainingState& state, const char* name) {
    const Value* value = state.scalars.find(name);
    if (!value || !value->is_integer())
      throw Error("E842", fmt::format("saved state: '{}' should be a whole number", name));
    return value->as_integer();
  }
  double worst() const {
    const double infinity = std::numeric_limits<double>::infinity();
    return arguments_.mode == "min" ? infinity : -infinity;
  }
  bool is_better(double metric) const {
    const bool relative = arguments_.threshold_mode == "rel";
    const double threshold = arguments_.threshold;
    if (arguments_.mode == "min") return metric < (relative ? best_ * (1.0 - threshold) : best_ - threshold);
    return metric > (relative ? best_ * (threshold + 1.0) : best_ + threshold);
  }

  const ReduceLROnPlateau arguments_;
  double best_;
  std::int64_t bad_epochs_ = 0, cooldown_left_ = 0;
  bool reduces_ = false;  // in the step that is being taken
};

std::shared_ptr<Scheduler> ReduceLROnPlateau::build(const SchedulerBuildContext& context) const {
  return std::make_shared<Plateau>(context, *this);
}

}  // namespace

void register_plateau_scheduler(Registration& registry) {
  add_scheduler<ReduceLROnPlateau>(registry, "ReduceLROnPlateau");
}

}  // namespace nexuml::torch_targets
