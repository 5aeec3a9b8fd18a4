// Compiling: from a scenario to a pipeline, with every mistake found before a weight is allocated.
//
//     Diagnostics problems = check(scenario, {.registry = registry});           // builds nothing
//     std::shared_ptr<CompiledPipeline> pipeline = compile(scenario, {.registry = registry, .seed = 7});
//
// `check` looks at keys, labels, metadata, losses, metrics and, where definitions have `infer`, shapes and
// dtypes; it reports everything at once, each with stage, layer, key path and, given the document that the
// scenario was read from, file, line and column. `compile` checks, builds the layers in parallel as their
// input shapes become known, and compares what each inferred with what it makes of a batch of zeros. The
// parameters are a function of (seed, stage, layer) alone: the same bits for any number of threads. The
// random streams of the process and every running statistic stay as they were. Layers are built on the CPU;
// `pipeline->to(device)` moves them. [any thread]
//
// `training.metric_keys` may name keys of layers and metrics that a layer computes at the end of an epoch;
// `check` knows the latter from the list of names under the attribute `epoch_metrics` of the layer's `infer`.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/pipeline.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace nexuml {

// One scenario and what is known beside it. Refers to the scenario and the document.
struct CompileInput {
  const ScenarioSpec& scenario;
  const Value* document = nullptr;      // what the scenario was read from: gives messages their positions
  std::optional<DataDeclaration> data;  // what the opened data holds; else what its source declares

  CompileInput(const ScenarioSpec& scenario_, const Value* document_ = nullptr,
               std::optional<DataDeclaration> data_ = std::nullopt)
      : scenario(scenario_), document(document_), data(std::move(data_)) {}
};

// Where the time of a build went: one span per layer and step.
struct BuildSpan {
  std::string name;      // Encoder/00_LinearEncoder
  std::string category;  // check, build, try, verify
  std::string scenario;
  int thread = 0;  // counted from 0
  std::chrono::nanoseconds start{}, duration{};
};

struct CompileOptions {
  ComponentRegistry registry;
  std::uint64_t seed = 0;
  int threads = 0;     // that build layers; 0: as many as there are cores
  bool verify = true;  // compare inferred with real shapes
  std::stop_token stop;
  Diagnostics* advice = nullptr;            // receives warnings and notes
  std::vector<BuildSpan>* spans = nullptr;  // receives the timing
};

// Every problem and piece of advice, sorted by place. Builds nothing, opens no data.
NEXUML_EXPORT Diagnostics check(const CompileInput& input, const CompileOptions& options = {});

// Throws Error with every problem that was found.
NEXUML_EXPORT std::shared_ptr<CompiledPipeline> compile(const CompileInput& input,
                                                        const CompileOptions& options = {});

// Several scenarios at once, their layers interleaved on the same threads. The problems of all are reported
// together.
NEXUML_EXPORT std::vector<std::shared_ptr<CompiledPipeline>> compile_all(std::span<const CompileInput> inputs,
                                                                         const CompileOptions& options = {});

// The shape of the data that a scenario declares: `data.input_shapes`, else what its source declares; nothing
// when neither says anything.
NEXUML_EXPORT std::optional<DataDeclaration> declared_data(const ScenarioSpec& scenario);

// Pictures. `check` results are enough: nothing is built for them.
NEXUML_EXPORT std::string mermaid_diagram(const CompiledPipeline& pipeline, const ScenarioSpec& scenario);
NEXUML_EXPORT std::string svg_diagram(const CompiledPipeline& pipeline, const ScenarioSpec& scenario);
NEXUML_EXPORT Value diagram_value(const CompiledPipeline& pipeline, const ScenarioSpec& scenario);
// The trace-event JSON that Perfetto and chrome://tracing open.
NEXUML_EXPORT std::string build_trace(std::span<const BuildSpan> spans);

}  // namespace nexuml
