// Adam and AdamW with the bits of Python's torch: by single operators, or fused where asked for.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <memory>
#include <optional>
#include <utility>

namespace nexuml_torch {

struct Adam {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  std::optional<bool> foreach;
  bool maximize = false;
  bool capturable = false;
  bool differentiable = false;
  std::optional<bool> fused;
  bool decoupled_weight_decay = false;

  static void describe(nexuml::Schema<Adam>& s);
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

struct AdamW {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
  std::optional<bool> foreach;
  bool capturable = false;
  bool differentiable = false;
  std::optional<bool> fused;

  static void describe(nexuml::Schema<AdamW>& s);
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

}  // namespace nexuml_torch
