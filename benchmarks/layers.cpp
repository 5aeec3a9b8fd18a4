// Forward passes of layers, and the areas of a million scores.
//
//     nexuml-benchmark-layers [--threads=N] [CASE.json ...] [--benchmark_filter=...]
//
// A case is a golden case (docs/golden-cases.md) of kind `layer`: its component, inputs and weights are
// taken, in eval mode and without gradients. benchmarks/layers_side_by_side.py writes cases of a useful size
// and puts Python's torch beside them. Without cases only the metrics run.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>
#include <nexuml/function.h>
#include <nexuml/layer.h>
#include <nexuml/registry.h>
#include <nexuml/tensor_io.h>
#include <torch/types.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "discovery/discover.h"
#include "host/freed_memory.h"
#include "loading/library_loader.h"

namespace {

using namespace nexuml;

ComponentRegistry load_registry() {
  Environment environment = process_environment();
  environment.host_prefix = std::filesystem::path(NEXUML_RUN_PATH).parent_path().parent_path().string();
  LibraryLoader loader(discover({.builtin_only = true}, environment), environment);
  Diagnostics problems;
  loader.load_all(problems);
  if (problems.has_errors()) throw Error(problems);
  return loader.registry();
}

Value read_case(const std::string& path) {
  Diagnostics problems;
  Value document = parse_json(read_text_file(path, problems), path, problems);
  if (problems.has_errors()) throw Error(problems);
  return document;
}

Shape shape_of(const Value& sizes) {
  Shape shape;
  for (const Value& size : sizes.items()) shape.push_back(size.as_integer());
  return shape;
}

struct CaseLayer {
  std::shared_ptr<PipelineLayer> layer;
  Batch inputs;
};

CaseLayer build_case(const Value& document, const TensorMap& tensors, const ComponentRegistry& registry) {
  const Value& component = document.at("component");
  const AnyLayer definition =
      registry.definition({ComponentKind::layer, component.at("type").as_string()}, component.at("params"));
  LayerBuildContext context;
  context.layer = component.at("type").as_string();
  CaseLayer built;
  for (const auto& entry : document.at("input_sizes").entries()) {
    const at::Tensor& input = tensors.at("in." + entry.key);
    context.keys_in.push_back(entry.key);
    context.inputs[entry.key] = {.shape = shape_of(entry.value), .dtype = dtype_of(input.scalar_type())};
    built.inputs.x.set(entry.key, input);
  }
  context.input_names = context.keys_in;
  for (const Value& key : document.at("keys_out").items()) context.keys_out.push_back(key.as_string());
  if (const Value* metadata = document.find("metadata"); metadata && metadata->is_map())
    for (const auto& entry : metadata->entries()) context.metadata[entry.key] = entry.value;
  context.targets = &registry;
  context.storage = std::make_shared<SharedStorage>();
  built.layer = definition->build(context);
  const at::AutoGradMode no_grad(false);
  for (const auto& entry : built.layer->named_parameters())
    if (const at::Tensor* saved = tensors.find("state." + entry.key())) entry.value().copy_(*saved);
  built.layer->eval();
  return built;
}

void forward(benchmark::State& state, const CaseLayer& built) {
  const at::AutoGradMode no_grad(false);
  for (auto _ : state) {
    Batch batch = built.inputs;
    built.layer->forward(batch);
    benchmark::DoNotOptimize(batch.x.size());
  }
}

// AUC, partial AUC, average precision and best F1 of `rows` scores, through the function target.
void ranking_metrics(benchmark::State& state, const ComponentRegistry& registry) {
  const std::int64_t rows = state.range(0);
  const auto function =
      registry.make<TargetKind::function>("nexuml_library.metrics:auc_pauc_f1", Value::list(), Value::map())
          ->build({});
  const TensorDict inputs{{"scores", at::rand({rows}, at::kDouble)}, {"labels", at::rand({rows}).ge(0.5)}};
  for (auto _ : state) benchmark::DoNotOptimize((*function)(inputs));
}

}  // namespace

int main(int argc, char** argv) try {
  keep_freed_memory();
  std::vector<char*> arguments{argv[0]};
  std::vector<std::string> cases;
  int threads = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--threads="))
      threads = std::stoi(argument.substr(10));
    else if (argument.ends_with(".json") && !argument.starts_with("--"))
      cases.push_back(argument);
    else
      arguments.push_back(argv[i]);
  }
  at::set_num_threads(threads);
  const ComponentRegistry registry = load_registry();
  for (const std::string& path : cases) {
    const Value document = read_case(path);
    const TensorMap tensors =
        read_safetensors(std::filesystem::path(path).replace_extension(".safetensors").string()).tensors;
    const CaseLayer built = build_case(document, tensors, registry);
    benchmark::RegisterBenchmark(std::filesystem::path(path).stem().c_str(),
                                 [built](benchmark::State& state) { forward(state, built); })
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
  benchmark::RegisterBenchmark("ranking_metrics",
                               [&](benchmark::State& state) { ranking_metrics(state, registry); })
      ->Arg(1'000'000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  auto count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
