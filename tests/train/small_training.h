// A small training that tests watch: one linear layer with dropout, its loss, and a plain optimizer.
#pragma once

#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <nexuml/layer.h>
#include <nexuml/pipeline.h>
#include <torch/nn/modules/linear.h>

#include <memory>
#include <string>
#include <vector>

#include "data/data_module.h"
#include "train/momentum_descent.h"
#include "train/random_streams.h"
#include "train/trainer.h"

namespace nexuml::test {

using Log = std::vector<std::string>;

inline LayerBuildContext layer_context(std::string name, std::vector<std::string> in,
                                       std::vector<std::string> out) {
  LayerBuildContext context;
  context.layer = std::move(name);
  context.keys_in = in;
  context.input_names = std::move(in);
  context.keys_out = std::move(out);
  context.storage = std::make_shared<SharedStorage>();
  return context;
}

class LinearLayer final : public PipelineLayer {
 public:
  explicit LinearLayer(double dropout)
      : PipelineLayer(layer_context("Model/00_Linear", {"features"}, {"output"})), dropout_(dropout) {
    linear_ = register_module("linear", torch::nn::Linear(4, 4));
  }
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return at::dropout(linear_->forward(input), dropout_, is_training());
  }

 private:
  double dropout_;
  torch::nn::Linear linear_{nullptr};
};

// The squared difference of its two inputs; notes the hooks it is told of.
class LossLayer final : public PipelineLayer {
 public:
  explicit LossLayer(std::shared_ptr<Log> log = nullptr)
      : PipelineLayer(layer_context("Loss/00_Squared", {"features", "output"}, {"squared"})),
        log_(std::move(log)) {}
  void forward(Batch& batch) override {
    note(std::string("forward ") + std::string(to_string(mode())));
    set_output(batch, (input(batch, 0) - input(batch, 1)).square().mean());
  }
  OrderedMap<double> epoch_metrics(Mode) override { return {{"Score", 0.5}, {"unnamed", 1.0}}; }
  void on_fit_start() override { note("fit_start"); }
  void on_fit_end() override { note("fit_end"); }
  void on_train_start() override { note("train_start"); }
  void on_train_end() override { note("train_end"); }
  void on_train_epoch_start() override { note("train_epoch_start"); }
  void on_train_epoch_end() override { note("train_epoch_end"); }
  void on_validation_start() override { note("validation_start"); }
  void on_validation_end() override { note("validation_end"); }
  void on_test_start() override { note("test_start"); }
  void on_test_end() override { note("test_end"); }

 private:
  void note(std::string event) {
    if (log_) log_->push_back(std::move(event));
  }
  std::shared_ptr<Log> log_;
};

// Halves the lr each epoch.
class Halving final : public Scheduler {
 public:
  explicit Halving(Optimizer& optimizer) : Scheduler(optimizer) { apply(); }

 protected:
  double next_lr(std::size_t, double base, double) const override {
    return base / static_cast<double>(std::int64_t{1} << steps_taken());
  }
};

struct SmallTraining {
  explicit SmallTraining(std::uint64_t seed, std::shared_ptr<Log> log = nullptr, double dropout = 0.25)
      : data(make_data(seed)) {
    seed_random_streams(seed, at::kCPU);
    PipelineParts parts;
    parts.layers = {{"Model", "00_Linear", {}, std::make_shared<LinearLayer>(dropout)},
                    {"Loss", "00_Squared", {}, std::make_shared<LossLayer>(std::move(log))}};
    parts.inputs = {{"features", {{4}}}};
    parts.specs = {{"features", {{4}}}, {"output", {{4}}}, {"squared", {}}};
    parts.storage = std::make_shared<SharedStorage>();
    pipeline = std::make_shared<CompiledPipeline>(std::move(parts));
    std::vector<NamedParameter> parameters;
    for (const auto& item : pipeline->named_parameters()) parameters.push_back({item.key(), item.value()});
    const auto optimizer = std::make_shared<MomentumDescent>(OptimizerBuildContext{parameters}, 0.05);
    strategy.models.push_back({"pipeline", pipeline});
    strategy.optimizers.push_back({"pipeline_optimizer", "pipeline", {}, optimizer});
    strategy.schedulers.push_back(
        {"pipeline_scheduler", "pipeline_optimizer", {}, 0, std::make_shared<Halving>(*optimizer)});
    options.loss_keys = {{"squared", 2.0}};
    options.metric_keys = {"score"};
    options.max_epochs = 3;
  }

  static std::unique_ptr<DataModule> make_data(std::uint64_t seed) {
    const at::Tensor features = at::randn({60, 4}, at::detail::createCPUGenerator(5));
    Splits splits;
    for (std::int64_t row = 0; row < 60; ++row)
      (row < 36 ? splits.train : row < 50 ? splits.val : splits.test).push_back(row);
    return std::make_unique<DataModule>(DataSpec{}, 8,
                                        std::make_shared<TensorDataset>(TensorDict{{"features", features}}),
                                        splits, DataModuleOptions{.seed = seed});
  }

  Trainer trainer() { return Trainer(strategy, *data, options); }

  std::unique_ptr<DataModule> data;
  std::shared_ptr<CompiledPipeline> pipeline;
  TrainingStrategy strategy;
  TrainerOptions options;
};

}  // namespace nexuml::test
