// The targets of the libraries and those of recipes themselves (built_in_targets.h).
#pragma once

#include <nexuml/schema.h>
#include <nexuml/target.h>

#include <memory>
#include <string>

#include "recipe/built_in_targets.h"

namespace nexuml {

class KnownTargets final : public Names {
 public:
  explicit KnownTargets(const Names& libraries) : libraries_(libraries) {}
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override {
    return libraries_.definition_schema(identity, type_at, version_at, problems);
  }
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    const auto built_in = built_in_target(spelling);
    return built_in && built_in->kind == kind ? built_in : libraries_.target(kind, spelling, at, problems);
  }

 private:
  const Names& libraries_;
};

}  // namespace nexuml
