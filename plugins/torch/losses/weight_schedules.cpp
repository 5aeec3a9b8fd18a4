// Weights of losses that change while training goes on, by steps or by epochs.
#include <nexuml/strategy_parts.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "losses/losses.h"

namespace nexuml::torch_targets {
namespace {

// Asks its arguments: `at(n)` is the weight after n steps, or n epochs.
template <class Arguments>
class Schedule final : public ScheduleFrom<Arguments> {
 public:
  using ScheduleFrom<Arguments>::ScheduleFrom;
  double weight(std::int64_t step, std::int64_t epoch) const override {
    const Arguments& arguments = this->arguments();
    return arguments.scale * arguments.at(arguments.per_epoch ? epoch : step);
  }
};

template <class T>
void describe_pace(Schema<T>& s) {
  s.field("per_epoch", &T::per_epoch).doc("Count epochs and not steps.");
  s.field("scale", &T::scale).doc("Factor of the whole schedule.");
}

struct ConstantWeight {
  double value = 1.0;
  bool per_epoch = false;
  double scale = 1.0;

  static void describe(Schema<ConstantWeight>& s) {
    s.summary("The same weight throughout.");
    s.field("value", &ConstantWeight::value).required();
    describe_pace(s);
  }
  double at(std::int64_t) const { return value; }
  std::shared_ptr<WeightSchedule> build(const WeightScheduleBuildContext&) const {
    return std::make_shared<Schedule<ConstantWeight>>(*this);
  }
};

// How much of a ramp of `num_steps` lies behind after `n`: 0 to 1.
double part_done(std::int64_t n, std::int64_t num_steps) {
  return static_cast<double>(std::clamp<std::int64_t>(n, 0, num_steps)) / static_cast<double>(num_steps);
}

template <class T>
void describe_ramp(Schema<T>& s) {
  s.field("start", &T::start).required();
  s.field("end", &T::end).required();
  s.field("num_steps", &T::num_steps).doc("Steps, or epochs, from start to end.").required().at_least(1);
  describe_pace(s);
}

struct LinearWeight {
  double start = 0.0;
  double end = 1.0;
  std::int64_t num_steps = 1;
  bool per_epoch = false;
  double scale = 1.0;

  static void describe(Schema<LinearWeight>& s) {
    s.summary("A straight line from start to end, and end from then on.");
    describe_ramp(s);
  }
  double at(std::int64_t n) const { return start + (end - start) * part_done(n, num_steps); }
  std::shared_ptr<WeightSchedule> build(const WeightScheduleBuildContext&) const {
    return std::make_shared<Schedule<LinearWeight>>(*this);
  }
};

struct CosineWeight {
  double start = 0.0;
  double end = 1.0;
  std::int64_t num_steps = 1;
  bool per_epoch = false;
  double scale = 1.0;

  static void describe(Schema<CosineWeight>& s) {
    s.summary("Half a cosine from start to end, and end from then on.");
    describe_ramp(s);
  }
  double at(std::int64_t n) const {
    return end + (start - end) * (1 + std::cos(std::numbers::pi * part_done(n, num_steps))) / 2;
  }
  std::shared_ptr<WeightSchedule> build(const WeightScheduleBuildContext&) const {
    return std::make_shared<Schedule<CosineWeight>>(*this);
  }
};

struct PiecewiseWeight {
  std::vector<std::int64_t> boundaries;
  std::vector<double> values;
  bool per_epoch = false;
  double scale = 1.0;

  static void describe(Schema<PiecewiseWeight>& s) {
    s.summary("One weight between each two boundaries; a boundary belongs to what follows it.");
    s.field("boundaries", &PiecewiseWeight::boundaries)
        .doc("Rising steps, or epochs.")
        .required()
        .at_least(0);
    s.field("values", &PiecewiseWeight::values).doc("One more than boundaries.").required().min_size(1);
    describe_pace(s);
    s.check([](const PiecewiseWeight& weight, RuleProblems& problems) {
      if (weight.values.size() != weight.boundaries.size() + 1)
        problems.add("values", "one value more than boundaries is needed");
      if (std::ranges::adjacent_find(weight.boundaries, std::ranges::greater_equal()) !=
          weight.boundaries.end())
        problems.add("boundaries", "boundaries have to rise");
    });
  }
  double at(std::int64_t n) const {
    const auto next = std::ranges::upper_bound(boundaries, n);
    return values[static_cast<std::size_t>(next - boundaries.begin())];
  }
  std::shared_ptr<WeightSchedule> build(const WeightScheduleBuildContext&) const {
    return std::make_shared<Schedule<PiecewiseWeight>>(*this);
  }
};

}  // namespace

void register_weight_schedules(Registration& registry) {
  registry.add_target<ConstantWeight>("nexuml.weight_schedules:ConstantWeight");
  registry.add_target<LinearWeight>("nexuml.weight_schedules:LinearWeight");
  registry.add_target<CosineWeight>("nexuml.weight_schedules:CosineWeight");
  registry.add_target<PiecewiseWeight>("nexuml.weight_schedules:PiecewiseWeight");
}

}  // namespace nexuml::torch_targets
