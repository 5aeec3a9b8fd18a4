// Optimizers that update a parameter at a time from its gradient and its moments.
#pragma once

#include <ATen/core/Tensor.h>
#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimizers/parameter_states.h"

namespace nexuml_torch {

// Python's arguments that every optimizer has and that change no number.
struct MomentOptions {
  double lr = 0;
  double weight_decay = 0;
  bool decoupled = false;  // weights shrink by themselves instead of through the gradient
  bool maximize = false;
};

class MomentOptimizer : public nexuml::Optimizer {
 public:
  // `scalar_moments`: how many of the last names are numbers and not of the parameter's shape.
  MomentOptimizer(const nexuml::OptimizerBuildContext& context, const MomentOptions& options,
                  std::vector<std::string> moment_names, std::size_t scalar_moments = 0);

  void step() final;
  nexuml::TrainingState state() const final;
  void load_state(const nexuml::TrainingState& state) final;

 protected:
  // `state.step` counts this update; `gradient` follows maximize and weight decay.
  virtual void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
                      std::size_t group) = 0;
  // What moment `index` starts with; zeros of the parameter's shape unless a derived class says otherwise.
  virtual at::Tensor first_moment(std::size_t index, const at::Tensor& parameter) const;

 private:
  void prepare(const at::Tensor& parameter, ParameterState& state) const;

  const MomentOptions options_;
  const std::size_t moments_;
  ParameterStates states_;
};

template <class T>
void describe_ignored(nexuml::Schema<T>& s, const char* name, std::optional<bool> T::*member) {
  s.field(name, member).doc("Accepted; has no effect.");
}
template <class T>
void describe_ignored(nexuml::Schema<T>& s, const char* name, bool T::*member) {
  s.field(name, member).doc("Accepted; has no effect.");
}

template <class T>
void describe_maximize(nexuml::Schema<T>& s) {
  s.field("maximize", &T::maximize).doc("Follow the gradient instead of its opposite.");
}

template <class T>
void describe_differentiable(nexuml::Schema<T>& s) {
  s.field("differentiable", &T::differentiable).doc("Has to be false.");
  s.check([](const T& value, nexuml::RuleProblems& problems) {
    if (value.differentiable)
      problems.add("differentiable", "steps that autograd can follow are not offered");
  });
}

// lr, and with it the betas of the Adam family.
template <class T>
void describe_lr(nexuml::Schema<T>& s) {
  s.field("lr", &T::lr).doc("Learning rate. Scenarios set it by training.lr.").at_least(0);
}
template <class T>
void describe_betas(nexuml::Schema<T>& s) {
  s.field("betas", &T::betas).doc("How slowly the running means of gradient and square forget.");
  s.check([](const T& value, nexuml::RuleProblems& problems) {
    const auto valid = [](double beta) { return beta >= 0 && beta < 1; };
    if (!valid(value.betas.first) || !valid(value.betas.second))
      problems.add("betas", "both betas have to be at least 0 and below 1");
  });
}

}  // namespace nexuml_torch
