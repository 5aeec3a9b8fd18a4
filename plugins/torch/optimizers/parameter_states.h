// What an optimizer remembers of each parameter, and which parameters one fused call may take together.
#pragma once

#include <ATen/core/Tensor.h>
#include <nexuml/training.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nexuml_torch {

// The moments of one parameter, by the names that torch gives them, and the number of updates it has had.
struct ParameterState {
  std::vector<at::Tensor> moments;  // empty until the first update
  std::int64_t step = 0;
};

// Parameters of one group that a fused operator updates in one call: same dtype, device and step.
struct FusedBatch {
  std::vector<at::Tensor> parameters, gradients;
  std::vector<ParameterState*> states;
};

class ParameterStates {
 public:
  // `moment_names`: exp_avg, exp_avg_sq, ...; the last `scalar_moments` of them are single numbers on the
  // CPU.
  ParameterStates(const std::vector<nexuml::Optimizer::Group>& groups, std::vector<std::string> moment_names,
                  std::size_t scalar_moments = 0);

  // Those of group `group` that have a gradient.
  std::vector<FusedBatch> batches(std::size_t group);

  void write(nexuml::TrainingState& state) const;
  // Checks everything against the parameters, then takes it. Throws Error E842.
  void read(const nexuml::TrainingState& state);

 private:
  const std::vector<nexuml::Optimizer::Group>& groups_;
  const std::vector<std::string> moment_names_;
  const std::size_t scalar_moments_;
  std::vector<std::vector<ParameterState>> states_;  // of each group's parameters
};

}  // namespace nexuml_torch
