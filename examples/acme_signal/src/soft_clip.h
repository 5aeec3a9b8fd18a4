// SoftClip: the target `acme.modules:SoftClip`, a smooth limit with a learned scale for each feature.
#pragma once

#include <nexuml/target.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace acme {

struct SoftClip {
  std::int64_t features = 1;
  double limit = 1.0;

  static void describe(nexuml::Schema<SoftClip>& s);
  std::optional<nexuml::TensorSpec> infer(const nexuml::TensorSpec& input) const;
  std::shared_ptr<nexuml::TensorModule> build(const nexuml::ModuleBuildContext& context) const;
};

}  // namespace acme
