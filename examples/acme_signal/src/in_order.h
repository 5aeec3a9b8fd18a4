// InOrder: a loader that never shuffles, for runs that are to be compared batch by batch.
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace acme {

struct InOrder {
  bool reversed = false;

  static void describe(nexuml::Schema<InOrder>& s);
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext& context) const;
};

}  // namespace acme
