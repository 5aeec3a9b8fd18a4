// Losses of torch.nn, with the argument names and defaults of Python, and schedules of their weights.
#pragma once

#include <nexuml/registration.h>

namespace nexuml::torch_targets {

void register_losses(Registration& registry);
void register_weight_schedules(Registration& registry);

}  // namespace nexuml::torch_targets
