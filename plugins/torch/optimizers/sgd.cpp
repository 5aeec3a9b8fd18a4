#include "optimizers/sgd.h"

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "optimizers/parameter_states.h"

namespace nexuml_torch {

namespace {

class FusedSgd final : public nexuml::Optimizer {
 public:
  FusedSgd(const nexuml::OptimizerBuildContext& context, const SGD& options)
      : Optimizer(context, options.lr), options_(options) {
    for (Group& group : groups()) {
      group.momentum = options.momentum;
      group.weight_decay = options.weight_decay;
    }
  }

  void step() override {
    const at::AutoGradMode no_grad(false);
    for (std::size_t group = 0; group < groups().size(); ++group)
      for (FusedBatch& batch : states().batches(group))
        update(batch, groups()[group].lr, *groups()[group].momentum);
  }

  nexuml::TrainingState state() const override {
    nexuml::TrainingState state = Optimizer::state();
    states().write(state);
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    states().read(state);
    Optimizer::load_state(state);
  }

 private:
  // Without momentum nothing is remembered. Made when it is first needed: a scheduler brings a momentum of
  // its own.
  ParameterStates& states() const {
    if (!states_) {
      const bool kept =
          std::ranges::any_of(groups(), [](const Group& group) { return *group.momentum != 0; });
      states_.emplace(groups(),
                      kept ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>{});
    }
    return *states_;
  }

  void update(FusedBatch& batch, double lr, double momentum) {
    const bool first = batch.states.front()->step == 0;  // then the buffer becomes the gradient, undampened
    std::vector<at::Tensor> buffers;
    for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
      ParameterState& state = *batch.states[i];
      ++state.step;
      if (momentum == 0) continue;
      if (state.moments.empty()) state.moments.push_back(at::empty_like(batch.parameters[i]));
      buffers.push_back(state.moments.front());
    }
    at::_fused_sgd_(batch.parameters, batch.gradients, buffers, options_.weight_decay, momentum, lr,
                    options_.dampening, options_.nesterov, options_.maximize, first);
  }

  const SGD options_;
  mutable std::optional<ParameterStates> states_;
};

}  // namespace

void SGD::describe(nexuml::Schema<SGD>& s) {
  s.summary("Stochastic gradient descent, with momentum where asked for, as torch.optim.SGD.");
  s.field("lr", &SGD::lr).doc("Learning rate. Scenarios set it by training.lr.").at_least(0);
  s.field("momentum", &SGD::momentum).doc("Share of the last update that is kept.").at_least(0);
  s.field("dampening", &SGD::dampening).doc("Share of the gradient that momentum leaves out.");
  s.field("weight_decay", &SGD::weight_decay).doc("L2 penalty.").at_least(0);
  s.field("nesterov", &SGD::nesterov).doc("Nesterov momentum.");
  s.field("maximize", &SGD::maximize).doc("Follow the gradient instead of its opposite.");
  s.field("foreach", &SGD::foreach).doc("Accepted; updates are always fused.");
  s.field("differentiable", &SGD::differentiable).doc("Has to be false.");
  s.field("fused", &SGD::fused).doc("Accepted; updates are always fused.");
  s.check([](const SGD& value, nexuml::RuleProblems& problems) {
    if (value.nesterov && (value.momentum <= 0 || value.dampening != 0))
      problems.add("nesterov", "Nesterov momentum needs a momentum above 0 and no dampening");
    if (value.differentiable)
      problems.add("differentiable", "steps that autograd can follow are not offered");
  });
}

std::shared_ptr<nexuml::Optimizer> SGD::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<FusedSgd>(context, *this);
}

}  // namespace nexuml_torch
