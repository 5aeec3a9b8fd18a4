#include "optimizers/parameter_states.h"

#include <fmt/format.h>

#include <tuple>

namespace nexuml_torch {

using nexuml::Error;
using nexuml::NamedParameter;

namespace {

std::int64_t saved_step(const nexuml::Value& steps, const std::string& name) {
  const nexuml::Value* step = steps.find(name);
  if (!step) return 0;
  if (!step->is_integer() || step->as_integer() < 0)
    throw Error("E842", fmt::format("saved optimizer state: the step of '{}' is no whole number", name));
  return step->as_integer();
}

at::Tensor saved_moment(const nexuml::TrainingState& state, const NamedParameter& parameter,
                        const std::string& moment, bool scalar) {
  const std::string name = parameter.name + "." + moment;
  const at::Tensor* saved = state.tensors.find(name);
  if (!saved) throw Error("E842", fmt::format("saved optimizer state: '{}' is missing", name));
  if (scalar && saved->dim() == 0) return saved->to(at::kCPU).clone();
  if (scalar || saved->sizes() != parameter.tensor.sizes())
    throw Error("E842", fmt::format("saved optimizer state: '{}' has shape {}, the parameter has {}", name,
                                    fmt::join(saved->sizes(), "x"),
                                    fmt::join(scalar ? at::IntArrayRef() : parameter.tensor.sizes(), "x")));
  at::Tensor moment_tensor = at::empty_like(parameter.tensor);
  moment_tensor.copy_(*saved);
  return moment_tensor;
}

}  // namespace

ParameterStates::ParameterStates(const std::vector<nexuml::Optimizer::Group>& groups,
                                 std::vector<std::string> moment_names, std::size_t scalar_moments)
    : groups_(groups), moment_names_(std::move(moment_names)), scalar_moments_(scalar_moments) {
  for (const auto& group : groups_) states_.emplace_back(group.parameters.size());
}

std::vector<FusedBatch> ParameterStates::batches(std::size_t group) {
  using Key = std::tuple<at::ScalarType, at::DeviceType, at::DeviceIndex, std::int64_t>;
  std::map<Key, FusedBatch> batches;
  const auto& parameters = groups_[group].parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i].tensor;
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    // The fused operators walk raw memory: both tensors have to lie in the same order.
    if (gradient.strides() != parameter.strides()) {
      gradient = at::empty_like(parameter).copy_(gradient);
    }
    ParameterState& state = states_[group][i];
    FusedBatch& batch =
        batches[{parameter.scalar_type(), parameter.device().type(), parameter.device().index(), state.step}];
    batch.parameters.push_back(parameter);
    batch.gradients.push_back(std::move(gradient));
    batch.states.push_back(&state);
  }
  std::vector<FusedBatch> result;
  for (auto& [key, batch] : batches) result.push_back(std::move(batch));
  return result;
}

void ParameterStates::write(nexuml::TrainingState& state) const {
  nexuml::Value steps = nexuml::Value::map();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t i = 0; i < groups_[g].parameters.size(); ++i) {
      const ParameterState& of = states_[g][i];
      if (of.step == 0) continue;
      const std::string& name = groups_[g].parameters[i].name;
      steps.set(name, of.step);
      for (std::size_t m = 0; m < of.moments.size(); ++m)
        state.tensors.append(name + "." + moment_names_[m], of.moments[m]);
    }
  state.scalars.set("step", std::move(steps));
}

void ParameterStates::read(const nexuml::TrainingState& state) {
  const nexuml::Value* steps = state.scalars.find("step");
  if (!steps || !steps->is_map()) throw Error("E842", "saved optimizer state: 'step' is missing");
  std::vector<std::vector<ParameterState>> loaded;
  std::size_t taken = 0;
  for (const auto& group : groups_) {
    auto& states = loaded.emplace_back();
    for (const NamedParameter& parameter : group.parameters) {
      ParameterState& of = states.emplace_back();
      of.step = saved_step(*steps, parameter.name);
      if (of.step == 0) continue;
      ++taken;
      for (std::size_t m = 0; m < moment_names_.size(); ++m)
        of.moments.push_back(
            saved_moment(state, parameter, moment_names_[m], m + scalar_moments_ >= moment_names_.size()));
    }
  }
  if (taken != steps->size() || state.tensors.size() != taken * moment_names_.size())
    throw Error("E842",
                fmt::format("saved optimizer state: {} parameters and {} tensors, of which {} parameters are "
                            "in this pipeline",
                            steps->size(), state.tensors.size(), taken));
  states_ = std::move(loaded);
}

}  // namespace nexuml_torch
