// Modules that a definition names by target, such as the activation `torch.nn.ReLU`.
#pragma once

#include <nexuml/layer_context.h>
#include <nexuml/module.h>

#include <memory>
#include <string>

namespace nexuml_library {

// Throws Error E733, E734 or E736 for a name or arguments that the target table does not accept.
std::shared_ptr<nexuml::TensorModule> build_module(const nexuml::LayerBuildContext& context,
                                                   const std::string& target,
                                                   const nexuml::Value& args = nexuml::Value::list());

}  // namespace nexuml_library
