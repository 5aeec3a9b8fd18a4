// The optimizers of torch: torch.optim.adam:Adam, torch.optim.adamw:AdamW, torch.optim.sgd:SGD, with the
// argument names, order and defaults of Python.
#pragma once

#include <nexuml/registration.h>

void register_optimizers(nexuml::Registration& registry);
