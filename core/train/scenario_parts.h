// The strategy that a scenario trains with, as recipes: what checkpoints of `nexuml-run` keep.
//
//     Value dict = checkpoint_spec_dict(scenario_parts(spec, pipeline, registry), registry);
#pragma once

#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/strategy_recipe.h>

#include <memory>

namespace nexuml {

// One model `pipeline`, `pipeline_optimizer` and `pipeline_scheduler`; the losses are layers of the pipeline.
NEXUML_EXPORT StrategyParts scenario_parts(const ScenarioSpec& scenario,
                                           const std::shared_ptr<CompiledPipeline>& pipeline,
                                           const ComponentRegistry& registry);

}  // namespace nexuml
