#include <fmt/format.h>
#include <nexuml/training.h>

namespace nexuml {

namespace {

const Value& state_entry(const Value& state, const char* key, std::size_t size) {
  const Value* found = state.find(key);
  if (!found || !found->is_list() || found->size() != size)
    throw Error("E842", fmt::format("saved state: '{}' should be a list of {} numbers", key, size));
  for (const Value& item : found->items())
    if (!item.is_number()) throw Error("E842", fmt::format("saved state: '{}' holds no number", key));
  return *found;
}

}  // namespace

Optimizer::Optimizer(const OptimizerBuildContext& context, double lr)
    : groups_{{.parameters = context.parameters, .lr = lr, .initial_lr = lr}} {}
Optimizer::~Optimizer() = default;

void Optimizer::step_with_loss(const at::Tensor&, const LossEvaluation&) {
  step();
}

void Optimizer::zero_grad() {
  for (Group& group : groups_)
    for (NamedParameter& parameter : group.parameters) parameter.tensor.mutable_grad().reset();
}

TrainingState Optimizer::state() const {
  Value lrs = Value::list(), initial = Value::list();
  for (const Group& group : groups_) {
    lrs.push_back(group.lr);
    initial.push_back(group.initial_lr);
  }
  TrainingState state;
  state.scalars.set("lr", std::move(lrs));
  state.scalars.set("initial_lr", std::move(initial));
  return state;
}

void Optimizer::load_state(const TrainingState& state) {
  const Value& lrs = state_entry(state.scalars, "lr", groups_.size());
  const Value& initial = state_entry(state.scalars, "initial_lr", groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].lr = lrs.items()[i].as_number();
    groups_[i].initial_lr = initial.items()[i].as_number();
  }
}

Scheduler::Scheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const Optimizer::Group& group : optimizer_.groups()) base_lrs_.push_back(group.initial_lr);
}
Scheduler::~Scheduler() = default;

void Scheduler::apply() {
  for (std::size_t i = 0; i < base_lrs_.size(); ++i) {
    Optimizer::Group& group = optimizer_.groups()[i];
    group.lr = next_lr(i, base_lrs_[i], group.lr);
  }
}

void Scheduler::step() {
  ++steps_taken_;
  apply();
}

void Scheduler::step_with_metric(double) {
  step();
}

std::vector<double> Scheduler::last_lr() const {
  std::vector<double> lrs;
  for (const Optimizer::Group& group : optimizer_.groups()) lrs.push_back(group.lr);
  return lrs;
}

TrainingState Scheduler::state() const {
  Value bases = Value::list();
  for (const double lr : base_lrs_) bases.push_back(lr);
  TrainingState state;
  state.scalars.set("base_lrs", std::move(bases));
  state.scalars.set("last_epoch", steps_taken_);
  return state;
}

void Scheduler::load_state(const TrainingState& state) {
  const Value& bases = state_entry(state.scalars, "base_lrs", base_lrs_.size());
  const Value* steps = state.scalars.find("last_epoch");
  if (!steps || !steps->is_integer() || steps->as_integer() < 0)
    throw Error("E842", "saved state: 'last_epoch' should be a whole number");
  for (std::size_t i = 0; i < base_lrs_.size(); ++i) base_lrs_[i] = bases.items()[i].as_number();
  steps_taken_ = steps->as_integer();
}

LossFunction::~LossFunction() = default;
WeightSchedule::~WeightSchedule() = default;
TrainingView::~TrainingView() = default;
Callback::~Callback() = default;
Strategy::~Strategy() = default;

}  // namespace nexuml
