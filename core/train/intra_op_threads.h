// How many threads an operator should use where nobody said so.
#pragma once

#include <nexuml/export.h>
#include <nexuml/pipeline.h>

#include <cstdint>

namespace nexuml {

// One for pipelines whose operators are so small that handing work to another thread costs more than it
// saves; otherwise LibTorch's own choice. Depends on the pipeline and the batch size alone, so that runs of
// one scenario use the same number on one machine.
NEXUML_EXPORT int default_intra_op_threads(const CompiledPipeline& pipeline, std::int64_t batch_size);

}  // namespace nexuml
