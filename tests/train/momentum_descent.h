// An optimizer that has something to lose.
#pragma once

#include <ATen/ops/zeros_like.h>
#include <nexuml/training.h>

#include <vector>

namespace nexuml::test {

// Gradient descent with a momentum, so that there is state to lose.
class MomentumDescent final : public Optimizer {
 public:
  MomentumDescent(const OptimizerBuildContext& context, double lr) : Optimizer(context, lr) {
    for (const NamedParameter& parameter : context.parameters)
      momentum_.push_back(at::zeros_like(parameter.tensor));
  }
  void step() override {
    const at::AutoGradMode no_grad(false);
    auto& parameters = groups().front().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].tensor.grad().defined()) continue;
      momentum_[i].mul_(0.9).add_(parameters[i].tensor.grad());
      parameters[i].tensor.sub_(momentum_[i], groups().front().lr);
    }
  }
  TrainingState state() const override {
    TrainingState state = Optimizer::state();
    for (std::size_t i = 0; i < momentum_.size(); ++i)
      state.tensors.append(groups().front().parameters[i].name + ".momentum", momentum_[i].clone());
    return state;
  }
  void load_state(const TrainingState& state) override {
    for (std::size_t i = 0; i < momentum_.size(); ++i)
      momentum_[i].copy_(state.tensors.at(groups().front().parameters[i].name + ".momentum"));
    Optimizer::load_state(state);
  }

 private:
  std::vector<at::Tensor> momentum_;
};

}  // namespace nexuml::test
