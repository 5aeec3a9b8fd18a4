// Trains a small regression by hand: `train_by_hand CHECKPOINTS EPOCHS`.
#include <nexuml/libraries.h>
#include <nexuml/training_strategy.h>
#include <torch/nn/modules/linear.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace {

using nexuml::Batch;
using nexuml::TrainingStrategy;

// ---- a model that keeps its arguments: that is all a checkpoint needs to rebuild it

struct NetArguments {
  std::int64_t hidden = 16;
  static void describe(nexuml::Schema<NetArguments>& s) {
    s.field("hidden", &NetArguments::hidden).at_least(1);
  }
  std::shared_ptr<nexuml::TensorModule> build(const nexuml::ModuleBuildContext&) const;
};
class Net : public torch::nn::Module, public nexuml::BuiltFrom<NetArguments> {
 public:
  explicit Net(const NetArguments& arguments) : BuiltFrom(arguments) {
    first_ = register_module("first", torch::nn::Linear(2, arguments.hidden));
    second_ = register_module("second", torch::nn::Linear(arguments.hidden, 1));
  }
  at::Tensor forward(const at::Tensor& input) { return second_->forward(first_->forward(input).tanh()); }

 private:
  torch::nn::Linear first_{nullptr}, second_{nullptr};
};
std::shared_ptr<nexuml::TensorModule> NetArguments::build(const nexuml::ModuleBuildContext&) const {
  return nexuml::tensor_module(std::make_shared<Net>(*this));
}

// ---- the forward pass, by a name that a checkpoint can record

class Step final : public nexuml::TrainingFunction {
 public:
  nexuml::TensorDict forward(const nexuml::StrategyModels& models, const Batch& batch) const override {
    const auto net = std::dynamic_pointer_cast<Net>(models.at("net"));
    return {{"product", net->forward(batch.x.get("factors"))}};
  }
};
struct StepArguments {
  static void describe(nexuml::Schema<StepArguments>&) {}
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return std::make_shared<Step>();
  }
};

// Pairs of numbers and their products; the same for each epoch of the same number.
std::vector<Batch> batches_of(std::int64_t epoch) {
  auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(epoch));
  std::vector<Batch> batches;
  for (int i = 0; i < 50; ++i) {
    const at::Tensor factors = torch::rand({32, 2}, generator) * 2 - 1;
    batches.push_back(
        {.x = {{"factors", factors}}, .y = nexuml::TensorDict{{"product", factors.prod(1, true)}}});
  }
  return batches;
}

TrainingStrategy begin(const nexuml::ComponentRegistry& registry, std::int64_t epochs) {
  torch::manual_seed(1);
  TrainingStrategy strategy(registry, {.max_epochs = epochs, .steps_per_epoch = 50});
  strategy.add_model("net", std::make_shared<Net>(NetArguments{}));
  strategy.add_optimizer("net", nexuml::create_model_spec(registry, "torch.optim.Adam", {{"lr", 0.01}}));
  strategy.add_scheduler(
      "net_optimizer",
      nexuml::create_model_spec(registry, "torch.optim.lr_scheduler.ExponentialLR", {{"gamma", 0.9}}));
  strategy.add_loss(nexuml::create_model_spec(registry, "torch.nn.MSELoss"));
  strategy.training_fn = nexuml::TrainingFunctionRef::named("train_by_hand:step");
  return strategy;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path checkpoints = argc > 1 ? argv[1] : "checkpoints";
  const std::int64_t epochs = argc > 2 ? std::atoll(argv[2]) : 5;
  nexuml::Diagnostics problems;
  const auto registry =
      nexuml::load_libraries({.builtin_only = true}, problems).with_program([](nexuml::Registration& r) {
        r.add_target<NetArguments>("train_by_hand:Net");
        r.add_target<StepArguments>("train_by_hand:step");
      });
  std::cerr << problems.to_text();

  TrainingStrategy strategy = std::filesystem::exists(checkpoints)
                                  ? TrainingStrategy::load_checkpoint(checkpoints, registry)
                                  : begin(registry, epochs);
  while (strategy.counters.epoch < epochs) {
    strategy.epoch_begins();
    for (const Batch& batch : batches_of(strategy.counters.epoch)) {
      strategy.optimizer().zero_grad();
      const at::Tensor loss = strategy.loss(batch);
      loss.backward();
      strategy.optimizer().step();
      strategy.epoch_means.add("loss", loss, batch.batch_size());
      strategy.batch_done();
    }
    strategy.scheduler().step();
    std::cout << "epoch " << strategy.counters.epoch << ": loss " << strategy.epoch_means.means().at("loss")
              << '\n';
    strategy.epoch_done();
    strategy.save_checkpoint(checkpoints);
  }
  return 0;
} catch (const nexuml::Error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
