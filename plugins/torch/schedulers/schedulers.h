// The schedulers of torch.optim.lr_scheduler, with the argument names, order and defaults of Python, and the
// WarmupCosineLR of nexuml_library.
#pragma once

#include <nexuml/registration.h>

namespace nexuml::torch_targets {

void register_epoch_schedulers(Registration& registry);
void register_cycle_schedulers(Registration& registry);
void register_plateau_scheduler(Registration& registry);
void register_composed_schedulers(Registration& registry);

}  // namespace nexuml::torch_targets
