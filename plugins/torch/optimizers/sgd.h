// Stochastic gradient descent over the fused operator of LibTorch.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <memory>
#include <optional>

namespace nexuml_torch {

struct SGD {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
  std::optional<bool> foreach;
  bool differentiable = false;
  std::optional<bool> fused;

  static void describe(nexuml::Schema<SGD>& s);
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

}  // namespace nexuml_torch
