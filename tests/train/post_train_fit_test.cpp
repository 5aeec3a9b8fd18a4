// The fit of layers after training, and optimizers that look at the loss of a batch again.
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include <catch2/catch.hpp>

#include "train/small_training.h"

namespace nexuml {
namespace {

using test::layer_context;
using test::SmallTraining;

// Subtracts the mean over the training rows; counts the passes that it collected in.
class MeanShift final : public PostTrainLayer {
 public:
  MeanShift(const std::string& name, const std::string& in, const std::string& out)
      : PostTrainLayer(layer_context("Fit/" + name, {in}, {out})) {
    register_buffer("mean", at::zeros({4}));
  }
  void collect_batch(const Batch& batch) override { seen_.push_back(input(batch)); }
  void finalize_fit() override {
    ++fits;
    rows = 0;
    for (const at::Tensor& batch : seen_) rows += batch.size(0);
    named_buffers(false)["mean"].copy_(at::cat(seen_).mean(0));
    seen_.clear();
  }
  void transform(Batch& batch) override { set_output(batch, input(batch) - named_buffers(false)["mean"]); }

  int fits = 0;
  std::int64_t rows = 0;

 private:
  std::vector<at::Tensor> seen_;
};

// Passes its input on; counts the passes over the data and the batches.
class Counter final : public PipelineLayer {
 public:
  Counter(const std::string& name, const std::string& in, const std::string& out)
      : PipelineLayer(layer_context("Fit/" + name, {in}, {out})) {}
  at::Tensor forward_tensor(const at::Tensor& value, const at::Tensor&) override {
    ++batches;
    return value;
  }
  void on_predict_start() override { ++passes; }

  int batches = 0, passes = 0;
};

// features -> first -> copy -> second, and features -> other.
struct Chain {
  std::shared_ptr<MeanShift> first = std::make_shared<MeanShift>("00_MeanShift", "features", "first");
  std::shared_ptr<Counter> copy = std::make_shared<Counter>("01_Counter", "first", "copy");
  std::shared_ptr<MeanShift> second = std::make_shared<MeanShift>("02_MeanShift", "copy", "second");
  std::shared_ptr<MeanShift> other = std::make_shared<MeanShift>("03_MeanShift", "features", "other");

  explicit Chain(SmallTraining& training) {
    PipelineParts parts;
    parts.layers = training.pipeline->layers();
    parts.layers.push_back({"Fit", "00_MeanShift", {}, first});
    parts.layers.push_back({"Fit", "01_Counter", {}, copy});
    parts.layers.push_back({"Fit", "02_MeanShift", {}, second});
    parts.layers.push_back({"Fit", "03_MeanShift", {}, other});
    parts.inputs = training.pipeline->input_specs();
    parts.specs = training.pipeline->specs();
    training.strategy.models.front().module = training.pipeline =
        std::make_shared<CompiledPipeline>(std::move(parts));
  }
};

// Steps back and forth: looks at the loss at both ends of a step and keeps the better one.
class BothWays final : public Optimizer {
 public:
  using Optimizer::Optimizer;
  void step() override { FAIL("the loop has to offer the loss"); }
  void step_with_loss(const at::Tensor& loss, const LossEvaluation& evaluate) override {
    losses.push_back(loss.item<double>());
    auto& weight = groups().front().parameters.front().tensor;
    const at::Tensor gradient = weight.grad().clone();
    const auto move = [&](double by) {
      const at::AutoGradMode no_grad(false);
      weight.sub_(gradient, by);
    };
    move(0.01);
    again.push_back(evaluate().item<double>());
    REQUIRE(weight.grad().defined());
    CHECK_FALSE(at::equal(weight.grad(), gradient));
    move(-0.01);
    unmoved.push_back(evaluate().item<double>());
    move(0.01);
  }
  std::vector<double> losses, again, unmoved;
};

}  // namespace

TEST_CASE("one pass over the training rows fits all layers that do not depend on one another") {
  SmallTraining training(1);
  Chain chain(training);
  Trainer trainer = training.trainer();
  trainer.fit_post_train_layers();
  CHECK(chain.first->fitted());
  CHECK(chain.second->fitted());
  CHECK(chain.other->fitted());
  CHECK(chain.copy->passes == 2);  // first and other, then second
  for (const auto* layer : {chain.first.get(), chain.second.get(), chain.other.get()}) {
    CHECK(layer->fits == 1);
    CHECK(layer->rows == 36);
  }
  // What the second layer saw was shifted by the first one already.
  CHECK(chain.second->named_buffers()["mean"].abs().max().item<double>() < 1e-6);
  CHECK(chain.first->named_buffers()["mean"].abs().max().item<double>() > 1e-3);
  trainer.fit_post_train_layers();
  CHECK(chain.copy->passes == 2);
}

TEST_CASE("layers that read what an unfitted layer would write are passed over until it is fitted") {
  SmallTraining training(1);
  Chain chain(training);
  training.options.max_epochs = 1;
  Trainer trainer = training.trainer();
  trainer.fit();  // with its sanity check and its validation
  trainer.validate();
  CHECK(chain.copy->batches == 0);
  trainer.fit_post_train_layers();
  Batch batch{.x = TensorDict{{"features", at::ones({2, 4})}}, .y = std::nullopt};
  training.pipeline->eval();
  training.pipeline->forward(batch);
  CHECK(batch.x.contains("second"));
}

TEST_CASE("an optimizer may evaluate the loss of the batch in hand as often as it likes") {
  SmallTraining training(1, nullptr, 0.0);
  training.options.max_epochs = 1;
  std::vector<NamedParameter> parameters;
  for (const auto& item : training.pipeline->named_parameters())
    parameters.push_back({item.key(), item.value()});
  const auto optimizer = std::make_shared<BothWays>(OptimizerBuildContext{parameters}, 0.05);
  training.strategy.optimizers.front().optimizer = optimizer;
  training.strategy.schedulers.front().scheduler = std::make_shared<test::Halving>(*optimizer);
  Trainer trainer = training.trainer();
  trainer.fit();
  REQUIRE(optimizer->losses.size() == 5);
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(optimizer->again[step] < optimizer->losses[step]);
    CHECK(optimizer->unmoved[step] == Approx(optimizer->losses[step]).epsilon(1e-5));
  }
}

}  // namespace nexuml
