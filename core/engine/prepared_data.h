// Prepared data: what `data.preprocessing` asks for, made once and used again while its source, the
// scenario's part that makes it and its seed stay the same.
#pragma once

#include <memory>
#include <stop_token>

#include "data/data_module.h"
#include "engine/scenario_input.h"

namespace nexuml {

// The data that the scenario trains on: opened, or prepared where preprocessing is enabled. Throws Error
// E83x.
std::unique_ptr<DataModule> open_data(const ScenarioInput& input, Diagnostics& advice, std::stop_token stop);

}  // namespace nexuml
