// @TYPE@: a loader backend.
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace @NAMESPACE@ {

struct @TYPE@ {
  bool shuffle = false;

  static void describe(nexuml::Schema<@TYPE@>& s);
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext& context) const;
};

}  // namespace @NAMESPACE@
