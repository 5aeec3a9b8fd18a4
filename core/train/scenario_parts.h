// The strategy that a scenario trains with: what `nexuml-run` trains and saves.
//
//     TrainingStrategy strategy = scenario_strategy(spec, pipeline, registry, steps_per_epoch);
#pragma once

#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/training_strategy.h>

#include <cstdint>
#include <memory>

namespace nexuml {

// One model `pipeline`, `pipeline_optimizer` and `pipeline_scheduler`; the losses are layers of the pipeline.
// Throws Error E840 and what the targets throw.
NEXUML_EXPORT TrainingStrategy scenario_strategy(const ScenarioSpec& scenario,
                                                 const std::shared_ptr<CompiledPipeline>& pipeline,
                                                 const ComponentRegistry& registry,
                                                 std::int64_t steps_per_epoch);

}  // namespace nexuml
