// The targets of the libraries and those of recipes themselves (built_in_targets.h).
#pragma once

#include <nexuml/schema.h>
#include <nexuml/target.h>

#include <memory>
#include <string>

#include "recipe/built_in_targets.h"
#include "schema/forwarded_names.h"

namespace nexuml {

class KnownTargets final : public ForwardedNames {
 public:
  using ForwardedNames::ForwardedNames;
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    const auto built_in = built_in_target(spelling);
    return built_in && built_in->kind == kind ? built_in
                                              : ForwardedNames::target(kind, spelling, at, problems);
  }
};

}  // namespace nexuml
