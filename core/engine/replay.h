// Replays a recorded training run: same data order, same first weights, same numbers.
#pragma once

#include <nexuml/value.h>

#include <filesystem>

#include "engine/engine_call.h"

namespace nexuml {

// Whether a file of `try` holds a training reference.
bool is_training_reference(const Value& reference);

// `<name>.json` beside `<name>.yaml`, `<name>.data.safetensors`, `<name>.init.safetensors` and, where there
// are recorded outputs, `<name>.test_outputs.safetensors`. True when every step, epoch and test number lies
// within the reference's tolerance, or within what rounding alone changes; what it found goes to the answer
// and stdout.
bool replay_training(EngineCall& call, const Value& reference, const std::filesystem::path& file);

}  // namespace nexuml
