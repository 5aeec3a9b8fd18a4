// @TYPE@: a layer.
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace @NAMESPACE@ {

struct @TYPE@ {
  double scale = 1.0;

  static void describe(nexuml::Schema<@TYPE@>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace @NAMESPACE@
