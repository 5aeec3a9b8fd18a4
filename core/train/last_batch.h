// Finds, before the first step, the training batch of one sample that batch normalisation cannot take.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/pipeline.h>

#include "data/data_module.h"

namespace nexuml {

// Throws Error E848 naming the layer, the numbers and the remedies. Where a training batch has one sample and
// the pipeline holds batch normalisation, one such batch is tried in training mode; weights, running
// statistics and random streams are as before.
NEXUML_EXPORT void check_batch_of_one(CompiledPipeline& pipeline, const DataModule& data,
                                      const at::Device& device);

}  // namespace nexuml
