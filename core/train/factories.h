// Optimizer and scheduler of a scenario, built through the target table.
#pragma once

#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/strategy_parts.h>
#include <nexuml/training.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace nexuml {

// Parameters in the order of the layers, by their names in the state dict; tied ones once, under the first.
NEXUML_EXPORT std::vector<NamedParameter> parameters_of(const torch::nn::Module& module);

// Where the optimizer takes an `lr`, `training.lr` is the one that is used (scenario/learning_rate.h).
NEXUML_EXPORT std::shared_ptr<Optimizer> build_optimizer(const TrainingSpec& spec,
                                                         const ComponentRegistry& registry,
                                                         std::vector<NamedParameter> parameters);

NEXUML_EXPORT std::shared_ptr<Scheduler> build_scheduler(const TrainingSpec& spec,
                                                         const ComponentRegistry& registry,
                                                         Optimizer& optimizer, std::int64_t steps_per_epoch);

// The callbacks of a scenario, named after their factories. Throws Error E840.
NEXUML_EXPORT std::vector<NamedCallback> build_callbacks(const ScenarioSpec& spec,
                                                         const ComponentRegistry& registry,
                                                         const CallbackBuildContext& context);

// SchedulerSpec.warmup in epochs: none, a number (at least 1), or "5%" of max_epochs. Throws Error E845.
NEXUML_EXPORT std::int64_t resolve_warmup(const SchedulerSpec& spec, std::int64_t max_epochs);

}  // namespace nexuml
