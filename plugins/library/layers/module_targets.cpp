#include "layers/module_targets.h"

namespace nexuml_library {

std::shared_ptr<nexuml::TensorModule> build_module(const nexuml::LayerBuildContext& context,
                                                   const std::string& target, const nexuml::Value& args) {
  if (!context.targets) context.fail("the module '" + target + "' cannot be built: there is no target table");
  return context.targets->make<nexuml::TargetKind::module>(target, args)
      ->build({.layer = context.layer, .targets = context.targets, .stop = context.stop});
}

}  // namespace nexuml_library
