#include "optimizers/moment_optimizer.h"

#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

namespace nexuml_torch {

MomentOptimizer::MomentOptimizer(const nexuml::OptimizerBuildContext& context, const MomentOptions& options,
                                 std::vector<std::string> moment_names, std::size_t scalar_moments)
    : Optimizer(context, options.lr),
      options_(options),
      moments_(moment_names.size()),
      states_(groups(), std::move(moment_names), scalar_moments) {
  for (Group& group : groups()) group.weight_decay = options.weight_decay;
}

void MomentOptimizer::step() {
  const at::AutoGradMode no_grad(false);
  for (std::size_t group = 0; group < groups().size(); ++group)
    for (FusedBatch& batch : states_.batches(group))
      for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
        const at::Tensor& parameter = batch.parameters[i];
        ParameterState& state = *batch.states[i];
        prepare(parameter, state);
        at::Tensor gradient = options_.maximize ? batch.gradients[i].neg() : batch.gradients[i];
        if (options_.weight_decay != 0) {
          if (options_.decoupled)
            parameter.mul_(1 - groups()[group].lr * options_.weight_decay);
          else
            gradient = gradient.add(parameter, options_.weight_decay);
        }
        update(parameter, gradient, state, group);
      }
}

void MomentOptimizer::prepare(const at::Tensor& parameter, ParameterState& state) const {
  if (state.moments.empty())
    for (std::size_t i = 0; i < moments_; ++i) state.moments.push_back(first_moment(i, parameter));
  ++state.step;
}

at::Tensor MomentOptimizer::first_moment(std::size_t, const at::Tensor& parameter) const {
  return at::zeros_like(parameter);
}

nexuml::TrainingState MomentOptimizer::state() const {
  nexuml::TrainingState state = Optimizer::state();
  states_.write(state);
  return state;
}

void MomentOptimizer::load_state(const nexuml::TrainingState& state) {
  states_.read(state);
  Optimizer::load_state(state);
}

}  // namespace nexuml_torch
