#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <nexuml/compile.h>

#include "compile/build.h"
#include "compile/graph.h"
#include "runtime/seeded_random.h"

namespace nexuml {
namespace {

void throw_if_failed(Diagnostics& problems) {
  if (!problems.has_errors()) return;
  problems.sort();
  throw Error(std::move(problems));
}

std::vector<BuildJob> checked_jobs(std::span<const CompileInput> inputs, const CompileOptions& options,
                                   SpanLog& log, Diagnostics& problems) {
  std::vector<BuildJob> jobs;
  jobs.reserve(inputs.size());
  for (const CompileInput& input : inputs) {
    const SpanLog::Scope span(log, "check", "check", input.scenario.name);
    jobs.emplace_back(input, analyse(input, options, problems));
  }
  return jobs;
}

// Random initialisation must be a function of the seed alone. A layer that drew from the default generator
// changed it; building each again, alone, shows which one.
void report_foreign_draws(const std::vector<BuildJob>& jobs, const CompileOptions& options,
                          Diagnostics& problems) {
  for (const BuildJob& job : jobs)
    for (std::size_t i = 0; i < job.layers.size(); ++i) {
      const GraphLayer& layer = job.graph.layers[i];
      const at::Tensor before = default_random_state();
      (void)build_layer(layer, build_context(job, layer, options), options.seed);
      if (at::equal(before, default_random_state())) continue;
      problems
          .error("E823",
                 "the layer draws from the default random generator, so its weights do not follow the seed",
                 layer.place["component"].where(layer.path))
          .hint = "in the component's build, pass no generator to random operators";
    }
}

void build_checked(std::vector<BuildJob>& jobs, const CompileOptions& options, SpanLog& log,
                   Diagnostics& problems) {
  const at::Tensor before = default_random_state();
  build_layers(jobs, options, log, problems);
  if (at::equal(before, default_random_state())) return;
  if (!problems.has_errors()) report_foreign_draws(jobs, options, problems);
  set_default_random_state(before);
}

OrderedMap<TensorSpec> known_inputs(const Graph& graph) {
  OrderedMap<TensorSpec> inputs;
  for (const auto& [key, spec] : graph.data.features)
    if (spec) inputs.append(key, *spec);
  return inputs;
}

// Every key with the spec that its last writer gave it. Before `assembled` takes the specs of the layers.
OrderedMap<TensorSpec> final_specs(const BuildJob& job) {
  OrderedMap<TensorSpec> specs;
  for (const std::string& key : job.graph.key_order) {
    const int writer = job.graph.keys.at(key).writer;
    if (writer < 0) {
      if (const auto spec = job.graph.spec_of(key, writer)) specs.append(key, *spec);
    } else if (const auto* spec = job.shapes[static_cast<std::size_t>(writer)].outputs.find(key)) {
      specs.append(key, *spec);
    }
  }
  return specs;
}

std::shared_ptr<CompiledPipeline> assembled(BuildJob& job) {
  PipelineParts parts;
  parts.inputs = known_inputs(job.graph);
  parts.specs = final_specs(job);
  parts.layers.reserve(job.layers.size());
  for (std::size_t i = 0; i < job.layers.size(); ++i) {
    GraphLayer& layer = job.graph.layers[i];
    parts.layers.push_back({std::move(layer.stage), std::move(layer.name), layer.spec->component,
                            std::move(job.layers[i]), std::move(job.shapes[i].outputs)});
    for (auto& [key, value] : job.published[i]) parts.metadata[key] = std::move(value);
  }
  parts.storage = job.storage;
  return std::make_shared<CompiledPipeline>(std::move(parts));
}

}  // namespace

std::vector<std::shared_ptr<CompiledPipeline>> compile_all(std::span<const CompileInput> inputs,
                                                           const CompileOptions& options) {
  SpanLog log(options.spans);
  Diagnostics problems;
  if (!SeededRandom::parallel())
    problems.warning(
        "W828", "this LibTorch lets no layer draw from a stream of its own: layers are built one by one");
  std::vector<BuildJob> jobs = checked_jobs(inputs, options, log, problems);
  throw_if_failed(problems);
  build_checked(jobs, options, log, problems);
  throw_if_failed(problems);
  if (options.advice) options.advice->append(problems);
  std::vector<std::shared_ptr<CompiledPipeline>> pipelines;
  for (BuildJob& job : jobs) pipelines.push_back(assembled(job));
  return pipelines;
}

std::shared_ptr<CompiledPipeline> compile(const CompileInput& input, const CompileOptions& options) {
  return compile_all(std::span(&input, 1), options).front();
}

}  // namespace nexuml
