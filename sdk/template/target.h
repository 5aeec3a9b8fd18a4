// @TYPE@: the target `@NAMESPACE@.modules:@TYPE@`, a module for NnModule.
#pragma once

#include <nexuml/target.h>

#include <memory>
#include <optional>

namespace @NAMESPACE@ {

struct @TYPE@ {
  double limit = 1.0;

  static void describe(nexuml::Schema<@TYPE@>& s);
  std::optional<nexuml::TensorSpec> infer(const nexuml::TensorSpec& input) const { return input; }
  std::shared_ptr<nexuml::TensorModule> build(const nexuml::ModuleBuildContext& context) const;
};

}  // namespace @NAMESPACE@
