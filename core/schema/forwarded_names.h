// Names that answer as others do, for those that answer one question differently.
#pragma once

#include <nexuml/schema_node.h>

#include <memory>
#include <string>

namespace nexuml {

// Refers to what it was made of.
class ForwardedNames : public Names {
 public:
  explicit ForwardedNames(const Names& names) : names_(names) {}
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override {
    return names_.definition_schema(identity, type_at, version_at, problems);
  }
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    return names_.target(kind, spelling, at, problems);
  }

 private:
  const Names& names_;
};

}  // namespace nexuml
