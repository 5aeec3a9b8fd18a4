// The layer of a golden case: built in the context that the case describes, its weights loaded.
#pragma once

#include <nexuml/layer.h>
#include <nexuml/registry.h>

#include <memory>
#include <string>

#include "engine/case_report.h"
#include "engine/golden_case.h"

namespace nexuml {

struct CaseLayer {
  std::shared_ptr<PipelineLayer> layer;
  Shapes inferred;  // empty where the definition infers nothing
  Value params;
};

// Passes the phases define and build.
CaseLayer build_case_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report);

// Copies `state.*` into the layer, or fills it by the case's `state_formula`, and compares names and shapes
// with `state_names`.
void load_case_state(const GoldenCase& golden, PipelineLayer& layer, CaseReport& report);

// Parameters and buffers by name.
OrderedMap<at::Tensor> state_of(const torch::nn::Module& module);

// Inputs `in.*` and labels `label.*`, or rows of them.
Batch case_batch(const GoldenCase& golden);
Batch rows_of(const Batch& batch, std::int64_t first, std::int64_t count);

}  // namespace nexuml
