// @TYPE@: an evaluation algorithm.
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <string>

namespace @NAMESPACE@ {

struct @TYPE@ {
  std::string key = "features";

  static void describe(nexuml::Schema<@TYPE@>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace @NAMESPACE@
