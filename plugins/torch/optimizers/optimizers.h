// The optimizers of torch.optim with the argument names, order and defaults of Python.
#pragma once

#include <nexuml/registration.h>

void register_optimizers(nexuml::Registration& registry);

namespace nexuml_torch {

void register_adaptive_optimizers(nexuml::Registration& registry);
void register_adam_family(nexuml::Registration& registry);
void register_lbfgs(nexuml::Registration& registry);

}  // namespace nexuml_torch
