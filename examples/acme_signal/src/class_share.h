// ClassShare: how often each class was predicted, and how even that is.
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <string>

namespace acme {

struct ClassShare {
  std::string logits = "logits";

  static void describe(nexuml::Schema<ClassShare>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace acme
