// `training.lr` and the optimizer's own `lr`: one rule, that of NexuML 0.2.1.
//
// `training.lr` replaces the optimizer's lr, whether either was written or has its default. An optimizer
// without an argument `lr` is left alone. A written lr that differs is reported.
#pragma once

#include <nexuml/scenario.h>
#include <nexuml/schema_node.h>

namespace nexuml {

// The optimizer as it is to be built. `optimizer` is the target that training.optimizer names.
NEXUML_EXPORT OptimizerSpec optimizer_with_training_lr(const TrainingSpec& training,
                                                       const TargetNode& optimizer);

// A warning W610 with both places where the optimizer's own lr is another one and will not be used.
NEXUML_EXPORT void report_learning_rate(const Value& scenario, const Names& names, Diagnostics& problems);

}  // namespace nexuml
