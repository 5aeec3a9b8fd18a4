// Between a strategy and the checkpoint of a moment.
#pragma once

#include <nexuml/export.h>
#include <nexuml/registry.h>
#include <nexuml/training_strategy.h>

#include "checkpoint/checkpoint_folder.h"

namespace nexuml {

// Tensors are shared, not copied. `recipe` is `strategy.checkpoint_spec_dict()`; `about` is what the caller
// knows of the moment, to which counters and libraries are added.
NEXUML_EXPORT Checkpoint checkpoint_of(const TrainingStrategy& strategy, Value recipe,
                                       Value about = Value::map());

// [{id, version, build_id}] of every library that registered something.
NEXUML_EXPORT Value library_records(const ComponentRegistry& registry);
// W768 for each library of `about` that is now another.
NEXUML_EXPORT void note_other_libraries(const Value& about, const ComponentRegistry& registry,
                                        Diagnostics& advice);

}  // namespace nexuml
