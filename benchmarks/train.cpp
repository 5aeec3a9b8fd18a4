// Training steps per second: the trainer against a loop written by hand over the same modules, and the
// loader.
//
//     nexuml-benchmark-train --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
//
// The pipeline is the synthetic linear auto-encoder (128-64-32-8-32-64-128, batch normalisation and ReLU
// between), batch 64, one intra-op thread. `items_per_second` are steps.
#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <benchmark/benchmark.h>
#include <nexuml/compile.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <numeric>

#include "data/data_module.h"
#include "discovery/discover.h"
#include "loading/library_loader.h"
#include "loading/scenario_source.h"
#include "scenario/document.h"
#include "train/scenario_parts.h"
#include "train/trainer.h"

namespace {

using namespace nexuml;

constexpr std::int64_t rows = 6400, features = 128, batch_size = 64;

std::shared_ptr<const Dataset> dataset() {
  return std::make_shared<TensorDataset>(TensorDict{{"features", at::randn({rows, features})}});
}

// Only training rows: an epoch is steps and nothing else.
DataModule training_rows(const DataSpec& spec) {
  Splits splits;
  splits.train.resize(rows);
  std::iota(splits.train.begin(), splits.train.end(), std::int64_t{0});
  return DataModule(spec, batch_size, dataset(), splits, {});
}

struct LoadedScenario {
  ScenarioSpec spec;
  ComponentRegistry registry;
};

LoadedScenario load_scenario() {
  const Environment environment = process_environment();
  LibraryLoader loader(discover({.builtin_only = true}, environment), environment);
  Diagnostics problems;
  const Value document = open_scenario(loader, {.source = "synthetic-linear-ae-reconstruction"}, problems);
  if (!problems.has_errors()) loader.load_for(document, problems);
  if (problems.has_errors()) throw Error(problems);
  return {materialise(document, loader.registry()), loader.registry()};
}

void trainer_epoch(benchmark::State& state) {
  at::set_num_threads(1);
  static const LoadedScenario scenario = load_scenario();
  const TrainingSpec& training = scenario.spec.training;
  const DataModule data = training_rows(scenario.spec.data);
  const auto pipeline =
      compile(CompileInput(scenario.spec, nullptr, data.declaration()), {.registry = scenario.registry});
  TrainingStrategy strategy =
      scenario_strategy(scenario.spec, pipeline, scenario.registry, rows / batch_size);
  TrainerOptions options{.loss_keys = training.loss_keys};
  for (auto _ : state) {
    options.max_epochs = strategy.counters.epoch + 1;
    Trainer(strategy, data, options).fit();
  }
  state.SetItemsProcessed(state.iterations() * (rows / batch_size));
}

torch::nn::Sequential by_hand() {
  torch::nn::Sequential model;
  const std::vector<std::int64_t> widths{features, 64, 32, 8, 32, 64, features};
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    model->push_back(torch::nn::Linear(widths[i], widths[i + 1]));
    const bool hidden = widths[i + 1] != 8 && i + 2 < widths.size();
    if (!hidden) continue;
    model->push_back(torch::nn::BatchNorm1d(widths[i + 1]));
    model->push_back(torch::nn::ReLU());
  }
  return model;
}

void hand_written_epoch(benchmark::State& state) {
  at::set_num_threads(1);
  const at::Tensor data = at::randn({rows, features});
  torch::nn::Sequential model = by_hand();
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));
  model->train();
  for (auto _ : state) {
    double loss_sum = 0;
    const at::Tensor order = at::randperm(rows, at::kLong);
    for (std::int64_t begin = 0; begin < rows; begin += batch_size) {
      const at::Tensor batch = data.index_select(0, order.narrow(0, begin, batch_size));
      optimizer.zero_grad();
      const at::Tensor loss = at::mse_loss(model->forward(batch), batch);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>();
    }
    benchmark::DoNotOptimize(loss_sum);
  }
  state.SetItemsProcessed(state.iterations() * (rows / batch_size));
}

// items_per_second are samples.
void loader_epoch(benchmark::State& state) {
  at::set_num_threads(1);
  DataSpec spec;
  spec.loader.num_workers = state.range(0);
  const DataModule data = training_rows(spec);
  const auto loader = data.make_loader(Split::train);
  std::int64_t epoch = 0;
  for (auto _ : state) {
    loader->start_epoch(epoch++);
    while (const auto batch = loader->next()) benchmark::DoNotOptimize(batch->x.batch_size());
  }
  state.SetItemsProcessed(state.iterations() * rows);
}

}  // namespace

BENCHMARK(trainer_epoch)->Unit(benchmark::kMillisecond);
BENCHMARK(hand_written_epoch)->Unit(benchmark::kMillisecond);
BENCHMARK(loader_epoch)->Arg(0)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
