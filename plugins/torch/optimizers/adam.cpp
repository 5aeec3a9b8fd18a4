#include "optimizers/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <cstddef>
#include <map>

#include "optimizers/parameter_states.h"

namespace nexuml_torch {

namespace {

// Numbers up to which a parameter is updated together with others.
constexpr std::int64_t small_parameter = 1 << 16;

struct AdamOptions {
  double beta1, beta2, eps, weight_decay;
  bool amsgrad, maximize, decoupled;
  std::optional<bool> fused;
};

class MomentsOfGradient final : public nexuml::Optimizer {
 public:
  MomentsOfGradient(const nexuml::OptimizerBuildContext& context, double lr, const AdamOptions& options)
      : Optimizer(context, lr), options_(options), states_(groups(), moment_names(options.amsgrad)) {
    for (Group& group : groups()) {
      group.momentum = options.beta1;
      group.weight_decay = options.weight_decay;
    }
  }

  void step() override {
    const at::AutoGradMode no_grad(false);
    for (std::size_t group = 0; group < groups().size(); ++group)
      for (FusedBatch& batch : states_.batches(group)) {
        prepare(batch);
        if (options_.fused.value_or(!batch.parameters.front().device().is_cpu()))
          update_fused(batch, groups()[group].lr, *groups()[group].momentum);
        else
          update_unfused(batch, groups()[group].lr, *groups()[group].momentum);
      }
  }

  nexuml::TrainingState state() const override {
    nexuml::TrainingState state = Optimizer::state();
    states_.write(state);
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    states_.read(state);
    together_.clear();
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
  // normalisation, becomes a whole step. Small parameters lie one after another in one tensor, so that they
  // take few operators; which place a number has in a tensor changes no bit of it.
  void update_unfused(const FusedBatch& batch, double lr, double beta1) {
    FusedBatch small;
    for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
      ParameterState& state = *batch.states[i];
      if (batch.parameters[i].numel() > small_parameter) {
        const at::Tensor gradient = prepared_gradient(batch.gradients[i], batch.parameters[i], lr);
        const at::Tensor divisor = at::empty_like(state.moments[0]);
        advance(state.moments, divisor, gradient, state.step, beta1);
        move(batch.parameters[i], state, divisor, lr, beta1);
        continue;
      }
      if (batch.parameters[i].numel() == 0) continue;
      small.parameters.push_back(batch.parameters[i]);
      small.gradients.push_back(batch.gradients[i].reshape({-1}));
      small.states.push_back(&state);
    }
    if (!small.parameters.empty()) update_together(small, lr, beta1);
  }

  void update_together(const FusedBatch& batch, double lr, double beta1) {
    const Together& together = together_of(batch);
    at::Tensor gradient = at::cat(batch.gradients);
    if (options_.maximize) gradient.neg_();
    if (options_.weight_decay != 0) {
      std::vector<at::Tensor> flat;
      for (const at::Tensor& parameter : batch.parameters) {
        if (options_.decoupled)
          parameter.mul_(1 - lr * options_.weight_decay);
        else
          flat.push_back(parameter.reshape({-1}));
      }
      if (!options_.decoupled) gradient.add_(at::cat(flat), options_.weight_decay);
    }
    advance(together.moments, together.divisor, gradient, batch.states.front()->step, beta1);
    for (std::size_t i = 0; i < batch.parameters.size(); ++i)
      move(batch.parameters[i], *batch.states[i], together.divisors[i], lr, beta1);
  }

  // The gradient as the moments take it; decoupled weight decay shrinks the parameter.
  at::Tensor prepared_gradient(const at::Tensor& gradient, const at::Tensor& parameter, double lr) const {
    const at::Tensor followed = options_.maximize ? gradient.neg() : gradient;
    if (options_.weight_decay == 0) return followed;
    if (!options_.decoupled) return followed.add(parameter, options_.weight_decay);
    parameter.mul_(1 - lr * options_.weight_decay);
    return followed;
  }

  void advance(const std::vector<at::Tensor>& moments, const at::Tensor& divisor, const at::Tensor& gradient,
               std::int64_t step, double beta1) const {
    moments[0].lerp_(gradient, 1 - beta1);
    moments[1].mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    at::Tensor largest = moments[1];
    if (options_.amsgrad) {
      largest = moments[2];
      at::maximum_out(largest, largest, moments[1]);
    }
    at::Tensor result = divisor;
    at::sqrt_out(result, largest);
    const double correction = 1 - std::pow(options_.beta2, static_cast<double>(step));
    result.div_(std::pow(correction, 0.5)).add_(options_.eps);
  }

  static void move(const at::Tensor& parameter, const ParameterState& state, const at::Tensor& divisor,
                   double lr, double beta1) {
    const double correction = 1 - std::pow(beta1, static_cast<double>(state.step));
    parameter.addcdiv_(state.moments[0], divisor, -(lr / correction));
  }

  // The moments of several parameters, of which theirs are views, and room for what divides the step.
  struct Together {
    std::vector<at::Tensor> moments;
    at::Tensor divisor;
    std::vector<at::Tensor> divisors;  // of each parameter

    bool holds(const FusedBatch& batch) const {
      if (divisors.size() != batch.states.size()) return false;
      for (std::size_t m = 0; m < moments.size(); ++m) {
        const auto* place = static_cast<const std::byte*>(moments[m].const_data_ptr());
        for (const ParameterState* state : batch.states) {
          if (state->moments[m].const_data_ptr() != place) return false;
          place += state->moments[m].nbytes();
        }
      }
      return true;
    }
  };

  // Gathers the moments where a batch is new, for example after loading.
  const Together& together_of(const FusedBatch& batch) {
    Together& together = together_[batch.states.front()];
    if (together.holds(batch)) return together;
    together = {};
    const auto views = [&](const at::Tensor& flat, const auto& take) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
        take(i, flat.narrow(0, offset, batch.parameters[i].numel()).view(batch.parameters[i].sizes()));
        offset += batch.parameters[i].numel();
      }
    };
    for (std::size_t m = 0; m < batch.states.front()->moments.size(); ++m) {
      std::vector<at::Tensor> parts;
      for (const ParameterState* state : batch.states) parts.push_back(state->moments[m].reshape({-1}));
      together.moments.push_back(at::cat(parts));
      views(together.moments.back(),
            [&](std::size_t i, const at::Tensor& view) { batch.states[i]->moments[m] = view; });
    }
    together.divisor = at::empty_like(together.moments.front());
    views(together.divisor, [&](std::size_t, const at::Tensor& view) { together.divisors.push_back(view); });
    return together;
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
  ParameterStates states_;
  std::map<const ParameterState*, Together> together_;  // by the first state of a batch
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
