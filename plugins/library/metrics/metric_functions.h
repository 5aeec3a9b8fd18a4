// The metrics as function targets `nexuml_library.metrics:NAME`, so that golden cases and other programs can
// call them.
#pragma once

#include <nexuml/registration.h>

namespace nexuml_library {

void register_metric_functions(nexuml::Registration& registry);

}  // namespace nexuml_library
