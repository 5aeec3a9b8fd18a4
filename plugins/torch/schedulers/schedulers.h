// The schedulers of torch.optim.lr_scheduler, with the argument names, order and defaults of Python.
#pragma once

#include <nexuml/registration.h>

namespace nexuml::torch_targets {

void register_epoch_schedulers(Registration& registry);

}  // namespace nexuml::torch_targets
