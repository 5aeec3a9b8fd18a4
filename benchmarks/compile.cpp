// What checking and building cost: a scenario of 10,000 layers from its text to its diagnostics, 1,000 small
// layers against constructing the same modules by hand, and a heavy graph on two threads against one.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <nexuml/compile.h>
#include <nexuml/registration.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "host/freed_memory.h"

namespace {

using namespace nexuml;

class DenseLayer : public PipelineLayer {
 public:
  DenseLayer(const LayerBuildContext& context, std::int64_t size)
      : PipelineLayer(context),
        linear_(register_module("linear", torch::nn::Linear(context.input().shape.back(), size))) {}
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return linear_(input); }

 private:
  torch::nn::Linear linear_;
};

struct Dense {
  std::int64_t size = 8;

  static void describe(Schema<Dense>& s) { s.field("size", &Dense::size).greater_than(0); }
  Shapes infer(const LayerInferContext& context) const {
    TensorSpec spec = context.input();
    spec.shape.back() = size;
    return context.single_output(spec);
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const {
    return std::make_shared<DenseLayer>(context, size);
  }
};

// What a scenario that names no loader stands for; nothing is loaded here.
struct Loader {
  std::int64_t unused = 0;

  static void describe(Schema<Loader>& s) { s.field("unused", &Loader::unused); }
  std::shared_ptr<LoaderBackend> build(const LoaderBuildContext&) const { return nullptr; }
};

const ComponentRegistry& registry() {
  static const ComponentRegistry all = ComponentRegistry().with_program([](Registration& r) {
    r.add<Dense>("Dense");
    r.add<Loader>("torch");
  });
  return all;
}

std::string chain_text(std::int64_t layers) {
  std::string text = "name: chain\ndata:\n  input_shapes: {k0: [8]}\npipeline:\n  stages:\n";
  for (std::int64_t i = 0; i < layers; ++i) {
    if (i % 100 == 0) text += "    Stage" + std::to_string(i / 100) + ":\n";
    text += "    - component: {type: Dense, version: '1', params: {size: 8}}\n      keys_in: [k" +
            std::to_string(i) + "]\n      keys_out: [k" + std::to_string(i + 1) + "]\n";
  }
  return text;
}

ScenarioSpec fan(std::int64_t layers, std::int64_t width) {
  ScenarioSpec scenario{.name = "fan"};
  scenario.data.input_shapes["features"] = {width};
  auto& stage = scenario.pipeline.stages["Main"];
  for (std::int64_t i = 0; i < layers; ++i)
    stage.push_back({.component = Dense{.size = width},
                     .keys_in = Keys{"features"},
                     .keys_out = {"out" + std::to_string(i)}});
  return scenario;
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void check_of_a_chain(benchmark::State& state) {
  const std::string text = chain_text(state.range(0));
  for (auto _ : state) {
    Diagnostics problems;
    const Value document = parse_yaml(text, "chain.yaml", problems);
    const auto scenario = read<ScenarioSpec>(document, {&registry(), &registry(), ""}, problems);
    if (!scenario || check(CompileInput(*scenario, &document), {.registry = registry()}).has_errors())
      state.SkipWithError("the chain does not check clean");
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(check_of_a_chain)
    ->Arg(2500)
    ->Arg(5000)
    ->Arg(10000)
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMillisecond);

void construct_by_hand() {
  std::vector<torch::nn::Linear> layers;
  for (int i = 0; i < 1000; ++i) layers.emplace_back(64, 64);
  benchmark::DoNotOptimize(layers.data());
}

void small_layers_by_hand(benchmark::State& state) {
  at::set_num_threads(1);
  for (auto _ : state) construct_by_hand();
}
BENCHMARK(small_layers_by_hand)->Unit(benchmark::kMillisecond)->UseRealTime();

void small_layers_compiled(benchmark::State& state) {
  const ScenarioSpec scenario = fan(1000, 64);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        compile(scenario, {.registry = registry(), .threads = static_cast<int>(state.range(0))}));
}
BENCHMARK(small_layers_compiled)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// The time of two threads over that of constructing the same modules one after another. Pairs are
// interleaved, so that both see the same machine.
void small_layers_on_two_threads(benchmark::State& state) {
  at::set_num_threads(1);
  const ScenarioSpec scenario = fan(1000, 64);
  const auto build = [&] { (void)compile(scenario, {.registry = registry(), .threads = 2}); };
  build();
  for (auto _ : state) {
    std::vector<double> ratios;
    for (int pair = 0; pair < 31; ++pair) {
      const double by_hand = seconds_of(construct_by_hand);
      ratios.push_back(seconds_of(build) / by_hand);
    }
    state.counters["of_by_hand"] = median(ratios);
  }
}
BENCHMARK(small_layers_on_two_threads)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// 25 layers of 2000 x 2000: a hundred million parameters. Pairs are interleaved, so that both see the same
// machine.
void heavy_graph_on_two_threads(benchmark::State& state) {
  const ScenarioSpec scenario = fan(25, 2000);
  const auto build = [&](int threads) {
    (void)compile(scenario, {.registry = registry(), .threads = threads});
  };
  build(2);
  for (auto _ : state) {
    std::vector<double> ratios, serial_times;
    for (int pair = 0; pair < 5; ++pair) {
      const double serial = seconds_of([&] { build(1); });
      ratios.push_back(serial / seconds_of([&] { build(2); }));
      serial_times.push_back(serial);
    }
    state.counters["speedup"] = median(ratios);
    state.counters["serial_s"] = median(serial_times);
  }
}
BENCHMARK(heavy_graph_on_two_threads)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  nexuml::keep_freed_memory();  // as the host does
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
