// The module targets, a function a family.
#pragma once

#include <string>

#include <nexuml/registration.h>

namespace nexuml::torch_targets {

void register_linear_targets(Registration& registry);
void register_convolution_targets(Registration& registry);
void register_normalization_targets(Registration& registry);
void register_activation_targets(Registration& registry);
void register_pooling_targets(Registration& registry);
void register_dropout_targets(Registration& registry);
void register_padding_targets(Registration& registry);
void register_resampling_targets(Registration& registry);
void register_sequential_target(Registration& registry);

// `torch.nn:Linear`, also as `torch.nn.modules.linear:Linear`, the module that defines it in Python.
template <class T>
void add_module(Registration& registry, const std::string& python_module, const std::string& name) {
  registry.add_target<T>("torch.nn:" + name, {.aliases = {"torch.nn.modules." + python_module + ":" + name}});
}

}  // namespace nexuml::torch_targets
