// Adamax, NAdam, RAdam: Adam with another norm, with Nesterov's momentum, with a rectified start.
// Formulas: the torch documentation of torch.optim.
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones.h>

#include <cmath>

#include "optimizers/moment_optimizer.h"
#include "optimizers/optimizers.h"

namespace nexuml_torch {

namespace {

// Two running means, of which OneCycleLR may move the first beta.
class TwoMeans : public MomentOptimizer {
 public:
  TwoMeans(const nexuml::OptimizerBuildContext& context, const MomentOptions& options,
           const std::pair<double, double>& betas, double eps, std::vector<std::string> moments,
           std::size_t scalar_moments = 0)
      : MomentOptimizer(context, options, std::move(moments), scalar_moments),
        beta2_(betas.second),
        eps_(eps) {
    for (Group& group : groups()) group.momentum = betas.first;
  }

 protected:
  double beta1(std::size_t group) const { return *groups()[group].momentum; }

  // exp_avg and exp_avg_sq, moments 0 and 1.
  void average(const at::Tensor& gradient, ParameterState& state, std::size_t group) const {
    state.moments[0].lerp_(gradient, 1 - beta1(group));
    state.moments[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
  }

  const double beta2_, eps_;
};

struct Adamax {
  double lr = 2e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  std::optional<bool> foreach;
  bool maximize = false;
  bool differentiable = false;
  bool capturable = false;

  static void describe(nexuml::Schema<Adamax>& s) {
    s.summary("Adam over the largest recent gradient instead of the running square, as torch.optim.Adamax.");
    describe_lr(s);
    describe_betas(s);
    s.field("eps", &Adamax::eps).doc("Keeps the divisor from zero.").at_least(0);
    s.field("weight_decay", &Adamax::weight_decay).doc("L2 penalty.").at_least(0);
    describe_ignored(s, "foreach", &Adamax::foreach);
    describe_maximize(s);
    describe_differentiable(s);
    describe_ignored(s, "capturable", &Adamax::capturable);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class LargestGradient final : public TwoMeans {
 public:
  LargestGradient(const nexuml::OptimizerBuildContext& context, const Adamax& options)
      : TwoMeans(context,
                 {.lr = options.lr, .weight_decay = options.weight_decay, .maximize = options.maximize},
                 options.betas, options.eps, {"exp_avg", "exp_inf"}) {}

 private:
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    at::Tensor &mean = state.moments[0], &largest = state.moments[1];
    mean.lerp_(gradient, 1 - beta1(group));
    at::maximum_out(largest, largest.mul_(beta2_), gradient.abs().add_(eps_));
    const double correction = 1 - std::pow(beta1(group), static_cast<double>(state.step));
    parameter.addcdiv_(mean, largest, -groups()[group].lr / correction);
  }
};

std::shared_ptr<nexuml::Optimizer> Adamax::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<LargestGradient>(context, *this);
}

struct NAdam {
  double lr = 2e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  std::optional<bool> foreach;
  bool maximize = false;
  bool capturable = false;
  bool differentiable = false;

  static void describe(nexuml::Schema<NAdam>& s) {
    s.summary("Adam with Nesterov's momentum (Dozat, 2016), as torch.optim.NAdam.");
    describe_lr(s);
    describe_betas(s);
    s.field("eps", &NAdam::eps).doc("Keeps the divisor from zero.").at_least(0);
    s.field("weight_decay", &NAdam::weight_decay).doc("L2 penalty.").at_least(0);
    s.field("momentum_decay", &NAdam::momentum_decay)
        .doc("How fast the momentum reaches its full share.")
        .at_least(0);
    s.field("decoupled_weight_decay", &NAdam::decoupled_weight_decay).doc("Decay weights as AdamW does.");
    describe_ignored(s, "foreach", &NAdam::foreach);
    describe_maximize(s);
    describe_ignored(s, "capturable", &NAdam::capturable);
    describe_differentiable(s);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class NesterovMeans final : public TwoMeans {
 public:
  NesterovMeans(const nexuml::OptimizerBuildContext& context, const NAdam& options)
      : TwoMeans(context,
                 {options.lr, options.weight_decay, options.decoupled_weight_decay, options.maximize},
                 options.betas, options.eps, {"exp_avg", "exp_avg_sq", "mu_product"}, 1),
        momentum_decay_(options.momentum_decay) {}

 private:
  // The product of the momenta so far stays on the CPU, so that no step waits for a device.
  at::Tensor first_moment(std::size_t index, const at::Tensor& parameter) const override {
    return index == 2 ? at::ones({}, at::kFloat) : MomentOptimizer::first_moment(index, parameter);
  }
  double momentum_at(double step, std::size_t group) const {
    return beta1(group) * (1.0 - 0.5 * std::pow(0.96, step * momentum_decay_));
  }
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    const auto step = static_cast<double>(state.step);
    const double mu = momentum_at(step, group), mu_next = momentum_at(step + 1, group);
    const double product = state.moments[2].mul_(mu).item<double>();
    average(gradient, state, group);
    const at::Tensor divisor = state.moments[1].div(1 - std::pow(beta2_, step)).sqrt_().add_(eps_);
    const double lr = groups()[group].lr;
    parameter.addcdiv_(gradient, divisor, -lr * (1.0 - mu) / (1.0 - product));
    parameter.addcdiv_(state.moments[0], divisor, -lr * mu_next / (1.0 - product * mu_next));
  }

  const double momentum_decay_;
};

std::shared_ptr<nexuml::Optimizer> NAdam::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<NesterovMeans>(context, *this);
}

struct RAdam {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  std::optional<bool> foreach;
  bool maximize = false;
  bool capturable = false;
  bool differentiable = false;

  static void describe(nexuml::Schema<RAdam>& s) {
    s.summary(
        "Adam that scales by the running square once its variance is known (Liu et al., 2020), as "
        "torch.optim.RAdam.");
    describe_lr(s);
    describe_betas(s);
    s.field("eps", &RAdam::eps).doc("Keeps the divisor from zero.").at_least(0);
    s.field("weight_decay", &RAdam::weight_decay).doc("L2 penalty.").at_least(0);
    s.field("decoupled_weight_decay", &RAdam::decoupled_weight_decay).doc("Decay weights as AdamW does.");
    describe_ignored(s, "foreach", &RAdam::foreach);
    describe_maximize(s);
    describe_ignored(s, "capturable", &RAdam::capturable);
    describe_differentiable(s);
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class RectifiedMeans final : public TwoMeans {
 public:
  RectifiedMeans(const nexuml::OptimizerBuildContext& context, const RAdam& options)
      : TwoMeans(context,
                 {options.lr, options.weight_decay, options.decoupled_weight_decay, options.maximize},
                 options.betas, options.eps, {"exp_avg", "exp_avg_sq"}) {}

 private:
  void update(const at::Tensor& parameter, const at::Tensor& gradient, ParameterState& state,
              std::size_t group) override {
    average(gradient, state, group);
    const auto step = static_cast<double>(state.step);
    const double correction1 = 1 - std::pow(beta1(group), step);
    const double correction2 = 1 - std::pow(beta2_, step);
    // The length of the simple moving average that the running square stands for.
    const double rho_inf = 2 / (1 - beta2_) - 1;
    const double rho = rho_inf - 2 * step * std::pow(beta2_, step) / correction2;
    const at::Tensor update = state.moments[0].div(correction1).mul_(groups()[group].lr);
    if (rho > 5) {
      const double rectified =
          std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
      update.mul_(std::sqrt(correction2) * rectified).div_(state.moments[1].sqrt().add_(eps_));
    }
    parameter.sub_(update);
  }
};

std::shared_ptr<nexuml::Optimizer> RAdam::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<RectifiedMeans>(context, *this);
}

}  // namespace

void register_adam_family(nexuml::Registration& registry) {
  const std::vector<std::string> injected{"params"};
  registry.add_target<Adamax>("torch.optim.adamax:Adamax", {{"torch.optim:Adamax"}, injected});
  registry.add_target<NAdam>("torch.optim.nadam:NAdam", {{"torch.optim:NAdam"}, injected});
  registry.add_target<RAdam>("torch.optim.radam:RAdam", {{"torch.optim:RAdam"}, injected});
}

}  // namespace nexuml_torch
