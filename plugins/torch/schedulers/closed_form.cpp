// Schedulers whose learning rate follows from the step before: ConstantLR, LinearLR, StepLR, MultiStepLR,
// ExponentialLR, PolynomialLR, CosineAnnealingLR. The recursions are those of the torch documentation, so
// that a trajectory agrees with Python's to the last bits.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "schedulers/recursive_scheduler.h"
#include "schedulers/schedulers.h"

namespace nexuml::torch_targets {
namespace {

struct ConstantLR {
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;
  std::int64_t last_epoch = -1;

  static void describe(Schema<ConstantLR>& s) {
    s.summary("Multiplies the learning rate by factor for the first total_iters steps.");
    s.field("factor", &ConstantLR::factor).at_least(0).at_most(1);
    s.field("total_iters", &ConstantLR::total_iters);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    if (step == 0) return current * factor;
    return step == total_iters ? current * (1.0 / factor) : current;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct LinearLR {
  double start_factor = 1.0 / 3;
  double end_factor = 1.0;
  std::int64_t total_iters = 5;
  std::int64_t last_epoch = -1;

  static void describe(Schema<LinearLR>& s) {
    s.summary(
        "Moves the factor of the learning rate from start_factor to end_factor over total_iters steps.");
    s.field("start_factor", &LinearLR::start_factor).greater_than(0).at_most(1);
    s.field("end_factor", &LinearLR::end_factor).at_least(0).at_most(1);
    s.field("total_iters", &LinearLR::total_iters).at_least(1);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    if (step == 0) return current * start_factor;
    if (step > total_iters) return current;
    const double change = end_factor - start_factor;
    return current * (1.0 + change / (static_cast<double>(total_iters) * start_factor +
                                      static_cast<double>(step - 1) * change));
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct StepLR {
  std::int64_t step_size = 1;
  double gamma = 0.1;
  std::int64_t last_epoch = -1;

  static void describe(Schema<StepLR>& s) {
    s.summary("Multiplies the learning rate by gamma every step_size steps.");
    s.field("step_size", &StepLR::step_size).required().at_least(1);
    s.field("gamma", &StepLR::gamma);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    return step == 0 || step % step_size != 0 ? current : current * gamma;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct MultiStepLR {
  std::vector<std::int64_t> milestones;
  double gamma = 0.1;
  std::int64_t last_epoch = -1;

  static void describe(Schema<MultiStepLR>& s) {
    s.summary("Multiplies the learning rate by gamma at each milestone.");
    s.field("milestones", &MultiStepLR::milestones).required();
    s.field("gamma", &MultiStepLR::gamma);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    const auto hits = std::ranges::count(milestones, step);
    return hits == 0 ? current : current * std::pow(gamma, static_cast<double>(hits));
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct ExponentialLR {
  double gamma = 0.1;
  std::int64_t last_epoch = -1;

  static void describe(Schema<ExponentialLR>& s) {
    s.summary("Multiplies the learning rate by gamma every step.");
    s.field("gamma", &ExponentialLR::gamma).required();
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    return step == 0 ? current : current * gamma;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct PolynomialLR {
  std::int64_t total_iters = 5;
  double power = 1.0;
  std::int64_t last_epoch = -1;

  static void describe(Schema<PolynomialLR>& s) {
    s.summary("Decays the learning rate to zero over total_iters steps along a polynomial.");
    s.field("total_iters", &PolynomialLR::total_iters).at_least(1);
    s.field("power", &PolynomialLR::power);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double, double current) const {
    if (step == 0 || step > total_iters) return current;
    const auto total = static_cast<double>(total_iters);
    const double left = 1.0 - static_cast<double>(step) / total;
    const double left_before = 1.0 - static_cast<double>(step - 1) / total;
    return current * std::pow(left / left_before, power);
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

struct CosineAnnealingLR {
  std::int64_t T_max = 1;
  double eta_min = 0.0;
  std::int64_t last_epoch = -1;

  static void describe(Schema<CosineAnnealingLR>& s) {
    s.summary(
        "Half a cosine from the base learning rate to eta_min over T_max steps (SGDR without restarts).");
    s.field("T_max", &CosineAnnealingLR::T_max).required().at_least(1);
    s.field("eta_min", &CosineAnnealingLR::eta_min);
    describe_last_epoch(s);
  }
  double next(std::int64_t step, double base, double current) const {
    if (step == 0) return current;
    const auto period = static_cast<double>(T_max);
    if ((step - 1 - T_max) % (2 * T_max) == 0)
      return current + (base - eta_min) * (1 - std::cos(std::numbers::pi / period)) / 2;
    const double now = 1 + std::cos(std::numbers::pi * static_cast<double>(step) / period);
    const double before = 1 + std::cos(std::numbers::pi * static_cast<double>(step - 1) / period);
    return now / before * (current - eta_min) + eta_min;
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return recursive_scheduler(context, *this);
  }
};

}  // namespace

void register_epoch_schedulers(Registration& registry) {
  add_scheduler<ConstantLR>(registry, "ConstantLR");
  add_scheduler<LinearLR>(registry, "LinearLR");
  add_scheduler<StepLR>(registry, "StepLR");
  add_scheduler<MultiStepLR>(registry, "MultiStepLR");
  add_scheduler<ExponentialLR>(registry, "ExponentialLR");
  add_scheduler<PolynomialLR>(registry, "PolynomialLR");
  add_scheduler<CosineAnnealingLR>(registry, "CosineAnnealingLR");
}

}  // namespace nexuml::torch_targets
