// RMSprop, Adagrad, Adadelta: steps scaled by running squares of the gradient.
// Formulas: the torch documentation of torch.optim.
#include <ATen/ops/full_like.h>

#include "optimizers/moment_optimizer.h"
#include "optimizers/optimizers.h"

namespace nexuml_torch {

namespace {

struct RMSprop {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool capturable = false;
  std::optional<bool> foreach;
  bool maximize = false;
  bool differentiable = false;

  static void describe(nexuml::Schema<RMSprop>& s) {
    s.summary(
        "Gradients divided by the root of their running square (Tieleman and Hinton), as "
        "torch.optim.RMSprop.");
    describe_lr(s);
    s.field("alpha", &RMSprop::alpha).doc("How slowly the running square forgets.").at_least(0);
    s.field("eps", &RMSprop::eps).doc("Keeps the divisor from zero.").at_least(0);
    s.field("weight_decay", &RMSprop::weight_decay).doc("L2 penalty.").at_least(0);
    s.field("momentum", &RMSprop::momentum).doc("Share of the last update that is kept.").at_least(0);
    s.field("centered", &RMSprop::centered).doc("Divide by the running variance instead of the square.");
    describe_ignored(s, "capturable", &RMSprop::capturable);
    describe_ignored(s, "foreach", &RMSprop::foreach);
    describe_maximize(s);
    describe_differentiable(s);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

// Moments: square_avg, momentum_buffer, grad_avg; all three are kept, as OneCycleLR may bring a momentum.
class RootMeanSquare final : public MomentOptimizer {
 public:
  RootMeanSquare(const nexuml::OptimizerBuildContext& context, const RMSprop& options)
      : MomentOptimizer(
            context, {.lr = options.lr, .weight_decay = options.weight_decay, .maximize = options.maximize},
            {"square_avg", "momentum_buffer", "grad_avg"}),
        options_(options) {
    for (Group& group : groups()) group.momentum = options.momentum;
  }

 private:
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    at::Tensor &square = state.moments[0], &buffer = state.moments[1], &average = state.moments[2];
    square.mul_(options_.alpha).addcmul_(gradient, gradient, 1 - options_.alpha);
    at::Tensor divisor = square;
    if (options_.centered) {
      average.lerp_(gradient, 1 - options_.alpha);
      divisor = square.addcmul(average, average, -1);
    }
    divisor = divisor.sqrt().add_(options_.eps);
    const double lr = groups()[group].lr, momentum = *groups()[group].momentum;
    if (momentum > 0)
      parameter.add_(buffer.mul_(momentum).addcdiv_(gradient, divisor), -lr);
    else
      parameter.addcdiv_(gradient, divisor, -lr);
  }

  const RMSprop options_;
};

std::shared_ptr<nexuml::Optimizer> RMSprop::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<RootMeanSquare>(context, *this);
}

struct Adagrad {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  std::optional<bool> foreach;
  bool maximize = false;
  bool differentiable = false;
  std::optional<bool> fused;

  static void describe(nexuml::Schema<Adagrad>& s) {
    s.summary(
        "Gradients divided by the root of the sum of their squares (Duchi et al., 2011), as "
        "torch.optim.Adagrad.");
    describe_lr(s);
    s.field("lr_decay", &Adagrad::lr_decay)
        .doc("Divides the rate by 1 + lr_decay times the updates done.")
        .at_least(0);
    s.field("weight_decay", &Adagrad::weight_decay).doc("L2 penalty.").at_least(0);
    s.field("initial_accumulator_value", &Adagrad::initial_accumulator_value)
        .doc("What the sums start with.")
        .at_least(0);
    s.field("eps", &Adagrad::eps).doc("Keeps the divisor from zero.").at_least(0);
    describe_ignored(s, "foreach", &Adagrad::foreach);
    describe_maximize(s);
    describe_differentiable(s);
    describe_ignored(s, "fused", &Adagrad::fused);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class SummedSquares final : public MomentOptimizer {
 public:
  SummedSquares(const nexuml::OptimizerBuildContext& context, const Adagrad& options)
      : MomentOptimizer(
            context, {.lr = options.lr, .weight_decay = options.weight_decay, .maximize = options.maximize},
            {"sum"}),
        options_(options) {}

 private:
  at::Tensor first_moment(std::size_t, const at::Tensor& parameter) const override {
    return at::full_like(parameter, options_.initial_accumulator_value);
  }
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    const double lr = groups()[group].lr / (1 + static_cast<double>(state.step - 1) * options_.lr_decay);
    at::Tensor& sum = state.moments[0];
    sum.addcmul_(gradient, gradient, 1);
    parameter.addcdiv_(gradient, sum.sqrt().add_(options_.eps), -lr);
  }

  const Adagrad options_;
};

std::shared_ptr<nexuml::Optimizer> Adagrad::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<SummedSquares>(context, *this);
}

struct Adadelta {
  double lr = 1.0;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  std::optional<bool> foreach;
  bool capturable = false;
  bool maximize = false;
  bool differentiable = false;

  static void describe(nexuml::Schema<Adadelta>& s) {
    s.summary(
        "Steps in the unit of the weights, from running squares of gradient and step (Zeiler, 2012), as "
        "torch.optim.Adadelta.");
    describe_lr(s);
    s.field("rho", &Adadelta::rho).doc("How slowly the running squares forget.").at_least(0).at_most(1);
    s.field("eps", &Adadelta::eps).doc("Keeps both roots from zero.").at_least(0);
    s.field("weight_decay", &Adadelta::weight_decay).doc("L2 penalty.").at_least(0);
    describe_ignored(s, "foreach", &Adadelta::foreach);
    describe_ignored(s, "capturable", &Adadelta::capturable);
    describe_maximize(s);
    describe_differentiable(s);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class SquaredSteps final : public MomentOptimizer {
 public:
  SquaredSteps(const nexuml::OptimizerBuildContext& context, const Adadelta& options)
      : MomentOptimizer(
            context, {.lr = options.lr, .weight_decay = options.weight_decay, .maximize = options.maximize},
            {"square_avg", "acc_delta"}),
        options_(options) {}

 private:
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    const double rho = options_.rho;
    at::Tensor &square = state.moments[0], &steps = state.moments[1];
    square.mul_(rho).addcmul_(gradient, gradient, 1 - rho);
    const at::Tensor divisor = square.add(options_.eps).sqrt_();
    const at::Tensor delta = steps.add(options_.eps).sqrt_().div_(divisor).mul_(gradient);
    steps.mul_(rho).addcmul_(delta, delta, 1 - rho);
    parameter.add_(delta, -groups()[group].lr);
  }

  const Adadelta options_;
};

std::shared_ptr<nexuml::Optimizer> Adadelta::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<SquaredSteps>(context, *this);
}

}  // namespace

void register_adaptive_optimizers(nexuml::Registration& registry) {
  const std::vector<std::string> injected{"params"};
  registry.add_target<RMSprop>("torch.optim.rmsprop:RMSprop", {{"torch.optim:RMSprop"}, injected});
  registry.add_target<Adagrad>("torch.optim.adagrad:Adagrad", {{"torch.optim:Adagrad"}, injected});
  registry.add_target<Adadelta>("torch.optim.adadelta:Adadelta", {{"torch.optim:Adadelta"}, injected});
}

}  // namespace nexuml_torch
