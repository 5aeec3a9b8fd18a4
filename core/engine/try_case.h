// Runs golden cases, one function a kind. Each sets `report.phase` as it goes and throws what the component
// throws.
#pragma once

#include <nexuml/registry.h>

#include "engine/case_report.h"
#include "engine/golden_case.h"

namespace nexuml {

void try_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_metric_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_post_train_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_decision_rule(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_function(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_eval_algorithm(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_scheduler(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_optimizer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);
void try_data_source(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);

// The component of a case as a definition. Throws for parameters that the component does not accept.
Definition case_definition(const Value& component, ComponentKind kind, const ComponentRegistry& registry);
// Its params as keyword arguments of a target.
Value case_arguments(const GoldenCase& golden);

}  // namespace nexuml
