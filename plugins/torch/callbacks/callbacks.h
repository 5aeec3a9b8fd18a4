// The callbacks of Lightning that scenario files name, with Lightning's argument names, order and defaults.
#pragma once

#include <nexuml/registration.h>

void register_callbacks(nexuml::Registration& registry);
