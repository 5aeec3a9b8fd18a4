#include "optimizers/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "optimizers/momentum.h"
#include "optimizers/parameter_states.h"

namespace nexuml_torch {

namespace {

struct AdamOptions {
  double beta1, beta2, eps, weight_decay;
  bool amsgrad, maximize, decoupled;
  std::optional<bool> fused;
};

class MomentsOfGradient final : public nexuml::Optimizer, public HasMomentum {
 public:
  MomentsOfGradient(const nexuml::OptimizerBuildContext& context, double lr, const AdamOptions& options)
      : Optimizer(context, lr),
        options_(options),
        beta1s_(groups().size(), options.beta1),
        states_(groups(), moment_names(options.amsgrad)) {}

  void set_momentum(std::size_t group, double momentum) override { beta1s_[group] = momentum; }

  void step() override {
    const at::AutoGradMode no_grad(false);
    for (std::size_t group = 0; group < groups().size(); ++group)
      for (FusedBatch& batch : states_.batches(group)) {
        prepare(batch);
        if (options_.fused.value_or(!batch.parameters.front().device().is_cpu()))
          update_fused(batch, groups()[group].lr, beta1s_[group]);
        else
          for (std::size_t i = 0; i < batch.parameters.size(); ++i)
            update_one(batch.parameters[i], batch.gradients[i], *batch.states[i], groups()[group].lr,
                       beta1s_[group]);
      }
  }

  nexuml::TrainingState state() const override {
    nexuml::TrainingState state = Optimizer::state();
    states_.write(state);
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    states_.read(state);
    Optimizer::load_state(state);
  }

 private:
  static std::vector<std::string> moment_names(bool amsgrad) {
    std::vector<std::string> names{"exp_avg", "exp_avg_sq"};
    if (amsgrad) names.emplace_back("max_exp_avg_sq");
    return names;
  }

  void prepare(FusedBatch& batch) const {
    for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
      ParameterState& state = *batch.states[i];
      if (state.moments.empty())
        for (int moment = 0; moment < (options_.amsgrad ? 3 : 2); ++moment)
          state.moments.push_back(at::zeros_like(batch.parameters[i]));
      ++state.step;
    }
  }

  // The operators, and with them the bits, that Python takes on the CPU where `fused` is not set. They
  // matter: a gradient that is zero but for its rounding, such as that of a bias in front of a batch
  // normalisation, becomes a whole step.
  void update_one(const at::Tensor& parameter, at::Tensor gradient, ParameterState& state, double lr,
                  double beta1) const {
    if (options_.maximize) gradient = gradient.neg();
    if (options_.weight_decay != 0) {
      if (options_.decoupled)
        parameter.mul_(1 - lr * options_.weight_decay);
      else
        gradient = gradient.add(parameter, options_.weight_decay);
    }
    const at::Tensor &average = state.moments[0], &square = state.moments[1];
    average.lerp_(gradient, 1 - beta1);
    square.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const auto step = static_cast<double>(state.step);
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(options_.beta2, step);
    if (options_.amsgrad) at::maximum_out(state.moments[2], state.moments[2], square);
    const at::Tensor divisor = (options_.amsgrad ? state.moments[2] : square).sqrt();
    divisor.div_(std::pow(correction2, 0.5)).add_(options_.eps);
    parameter.addcdiv_(average, divisor, -(lr / correction1));
  }

  void update_fused(FusedBatch& batch, double lr, double beta1) const {
    std::vector<at::Tensor> averages, squares, maxima;
    for (const ParameterState* state : batch.states) {
      averages.push_back(state->moments[0]);
      squares.push_back(state->moments[1]);
      if (options_.amsgrad) maxima.push_back(state->moments[2]);
    }
    // All parameters of a batch have had the same number of updates: one tensor serves them all.
    const at::Tensor step =
        at::full({}, batch.states.front()->step,
                 batch.parameters.front().options().dtype(at::kFloat).requires_grad(false));
    const std::vector<at::Tensor> steps(batch.parameters.size(), step);
    const auto fused =
        options_.decoupled
            ? static_cast<decltype(&at::_ops::_fused_adam_::call)>(&at::_ops::_fused_adamw_::call)
            : &at::_ops::_fused_adam_::call;
    fused(batch.parameters, batch.gradients, averages, squares, maxima, steps, lr, beta1, options_.beta2,
          options_.weight_decay, options_.eps, options_.amsgrad, options_.maximize, {}, {});
  }

  const AdamOptions options_;
  std::vector<double> beta1s_;  // a group's
  ParameterStates states_;
};

// The fields that both have, in the words of torch's documentation.
template <class T>
void describe_common(nexuml::Schema<T>& s) {
  s.field("lr", &T::lr).doc("Learning rate. Scenarios set it by training.lr.").at_least(0);
  s.field("betas", &T::betas)
      .doc("Decay of the running means of the gradient and of its square; each below 1.");
  s.field("eps", &T::eps).doc("Added to the denominator.").at_least(0);
  s.field("weight_decay", &T::weight_decay).doc("Weight decay.").at_least(0);
  s.field("amsgrad", &T::amsgrad).doc("Use the largest running mean of the squares that was seen.");
  s.check([](const T& value, nexuml::RuleProblems& problems) {
    const auto valid = [](double beta) { return beta >= 0 && beta < 1; };
    if (!valid(value.betas.first) || !valid(value.betas.second))
      problems.add("betas", "both betas have to be at least 0 and below 1");
    if (value.differentiable)
      problems.add("differentiable", "steps that autograd can follow are not offered");
  });
}

template <class T>
void describe_fused(nexuml::Schema<T>& s) {
  s.field("fused", &T::fused)
      .doc(
          "One operator updates all parameters: faster, other roundings. Null: not on the CPU, as in "
          "Python.");
}

}  // namespace

// Fields stand in Python's order: positional arguments depend on it.
void Adam::describe(nexuml::Schema<Adam>& s) {
  s.summary("Adam (Kingma and Ba, 2015), as torch.optim.Adam.");
  describe_common(s);
  s.field("foreach", &Adam::foreach).doc("Accepted; gives the same numbers.");
  s.field("maximize", &Adam::maximize).doc("Follow the gradient instead of its opposite.");
  s.field("capturable", &Adam::capturable).doc("Accepted; has no effect.");
  s.field("differentiable", &Adam::differentiable).doc("Has to be false.");
  describe_fused(s);
  s.field("decoupled_weight_decay", &Adam::decoupled_weight_decay).doc("Decay weights as AdamW does.");
}

std::shared_ptr<nexuml::Optimizer> Adam::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<MomentsOfGradient>(context, lr,
                                             AdamOptions{betas.first, betas.second, eps, weight_decay,
                                                         amsgrad, maximize, decoupled_weight_decay, fused});
}

void AdamW::describe(nexuml::Schema<AdamW>& s) {
  s.summary("Adam with decoupled weight decay (Loshchilov and Hutter, 2019), as torch.optim.AdamW.");
  describe_common(s);
  s.field("maximize", &AdamW::maximize).doc("Follow the gradient instead of its opposite.");
  s.field("foreach", &AdamW::foreach).doc("Accepted; gives the same numbers.");
  s.field("capturable", &AdamW::capturable).doc("Accepted; has no effect.");
  s.field("differentiable", &AdamW::differentiable).doc("Has to be false.");
  describe_fused(s);
}

std::shared_ptr<nexuml::Optimizer> AdamW::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<MomentsOfGradient>(
      context, lr, AdamOptions{betas.first, betas.second, eps, weight_decay, amsgrad, maximize, true, fused});
}

}  // namespace nexuml_torch
