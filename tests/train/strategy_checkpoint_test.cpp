// A hand-written training, saved in one call and loaded in one.
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/small_checkpoint.h"
#include "tensor_io/python_counterpart.h"
#include "train/random_streams.h"
#include "train/strategy_parts.h"

using namespace nexuml;
using namespace nexuml::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

std::vector<Batch> batches_of_epoch(std::int64_t epoch) {
  std::vector<Batch> batches;
  auto generator = at::detail::createCPUGenerator(100 + static_cast<std::uint64_t>(epoch));
  for (int i = 0; i < 3; ++i)
    batches.push_back({.x = {{"input", at::randn({4, 3}, generator)}},
                       .y = TensorDict{{"target", at::randn({4, 3}, generator)}}});
  return batches;
}

// What a person writes who trains by hand: goes on wherever the counters stand, and stops after `until`.
void train(TrainingStrategy& strategy, std::int64_t until) {
  while (strategy.counters.global_step < until) {
    const std::vector<Batch> batches = batches_of_epoch(strategy.counters.epoch);
    while (strategy.counters.batch < 3) {
      strategy.optimizer().zero_grad();
      const at::Tensor loss = strategy.loss(batches[static_cast<std::size_t>(strategy.counters.batch)]);
      loss.backward();
      strategy.optimizer().step();
      strategy.epoch_means.add("loss", loss, 4);
      strategy.batch_done();
      if (strategy.counters.global_step == until) return;
    }
    strategy.scheduler().step();
    strategy.epoch_done();
  }
}

bool same_state(const TrainingStrategy& left, const TrainingStrategy& right) {
  const StrategyState a = left.state(), b = right.state();
  const auto same = [](const TensorMap& x, const TensorMap& y) {
    for (const auto& [name, tensor] : x)
      if (!y.contains(name) || !at::equal(tensor, y.at(name))) return false;
    return x.size() == y.size();
  };
  return same(a.model, b.model) && same(a.tensors, b.tensors) && a.scalars == b.scalars;
}

std::map<std::string, std::string> everything_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[fs::relative(entry.path(), folder)] =
        entry.is_regular_file() ? bytes_of_file(entry.path()) : std::string();
  return files;
}

}  // namespace

TEST_CASE("a hand-written training is saved in one call and rebuilt from its checkpoint alone in one") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  seed_random_streams(3, at::kCPU);
  TrainingStrategy strategy = whole_strategy(known, 0.5);
  train(strategy, 4);
  CHECK(strategy.save_checkpoint(folder.path / "checkpoints") == 0);

  seed_random_streams(99, at::kCPU);
  TrainingStrategy again = TrainingStrategy::load_checkpoint(folder.path / "checkpoints", known);
  CHECK(again.counters.epoch == 1);
  CHECK(again.counters.batch == 1);
  CHECK(dynamic_cast<Net&>(again.model("encoder")).arguments().dropout == 0.5);
  CHECK(same_state(strategy, again));
  CHECK(again.save_checkpoint(folder.path / "checkpoints") == 1);
  CHECK(bytes_of_file(folder.path / "checkpoints/1/recipe.json") ==
        bytes_of_file(folder.path / "checkpoints/0/recipe.json"));
}

TEST_CASE(
    "a hand-written training that was interrupted inside an epoch ends with the bits of one that was not") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  for (const std::int64_t at : {1, 4, 6, 8}) {
    INFO("saved after step " << at);
    seed_random_streams(3, at::kCPU);
    TrainingStrategy whole = whole_strategy(known, 0.5);  // with dropout
    train(whole, at);
    const std::int64_t index = whole.save_checkpoint(folder.path);
    train(whole, 10);
    seed_random_streams(77, at::kCPU);
    TrainingStrategy resumed = TrainingStrategy::load_checkpoint(folder.path / std::to_string(index), known);
    train(resumed, 10);
    CHECK(same_state(whole, resumed));
  }
}

TEST_CASE("a checkpoint loads into live objects, which stay the objects that they are") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  train(strategy, 5);
  strategy.save_checkpoint(folder.path);
  TrainingStrategy other = whole_strategy(known);
  const auto* model = &other.model("head");
  const at::Tensor weight = model->parameters().front();
  other.load_checkpoint(folder.path);
  CHECK(&other.model("head") == model);
  CHECK(model->parameters().front().is_same(weight));
  CHECK(same_state(strategy, other));
}

TEST_CASE("a checkpoint that does not fit the live objects changes none of them") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  train(strategy, 2);
  strategy.save_checkpoint(folder.path);

  TrainingStrategy more = whole_strategy(known);
  more.add_model("tail", std::make_shared<Net>(NetArguments{.size = 3}));
  more.optimizers.front().name = "other";
  CHECK_THROWS_WITH(more.load_checkpoint(folder.path),
                    Contains("E842") && Contains("model 'tail' is not in the checkpoint") &&
                        Contains("optimizer 'encoder_optimizer' of the checkpoint is not here") &&
                        Contains("optimizer 'other' is not in the checkpoint"));

  // The encoder fits, the head does not: neither is changed.
  TrainingStrategy wider = whole_strategy(known);
  wider.models[1].module = std::make_shared<Net>(NetArguments{.size = 5});
  const at::Tensor before = wider.model("encoder").parameters().front().detach().clone();
  CHECK_THROWS_WITH(wider.load_checkpoint(folder.path),
                    Contains("E760") && Contains("head.linear.weight") && Contains("[5, 5]"));
  CHECK(at::equal(wider.model("encoder").parameters().front(), before));
  CHECK(wider.counters.global_step == 0);
}

TEST_CASE("a refused save names every model with its cause and leaves no trace, not even the parent folder") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  strategy.add_model("a", torch::nn::Linear(2, 2).ptr());
  strategy.add_model("b", std::make_shared<Net>(NetArguments{}),
                     create_model_spec(known, NetArguments{.size = 7}));
  const auto before = everything_below(folder.path);
  CHECK_THROWS_WITH(
      strategy.save_checkpoint(folder.path / "deep" / "checkpoints"),
      Contains("Cannot save strategy checkpoint because model spec generation failed for model(s) [a, b]") &&
          Contains("a: torch::nn::LinearImpl says nothing of how it was built") &&
          Contains("b: the recipe of acme.nn.Net does not rebuild the model"));
  CHECK(everything_below(folder.path) == before);
  CHECK_FALSE(fs::exists(folder.path / "deep"));
}

TEST_CASE("a refused save leaves the checkpoints before it as they are") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  strategy.save_checkpoint(folder.path);
  const auto before = everything_below(folder.path);
  strategy.add_model("a", torch::nn::Linear(2, 2).ptr());
  CHECK_THROWS_WITH(strategy.save_checkpoint(folder.path), Contains("[a]"));
  CHECK(everything_below(folder.path) == before);
}

TEST_CASE("models that share a weight are refused, since two recipes would build two weights") {
  const auto known = strategy_targets();
  TrainingStrategy strategy(known);
  const auto net = std::make_shared<Net>(NetArguments{});
  strategy.add_model("a", net);
  strategy.add_model("b", net);
  const ScratchFolder folder;
  CHECK_THROWS_WITH(strategy.save_checkpoint(folder.path / "none"),
                    Contains("'a' and 'b' share 'linear.weight'"));
  CHECK_FALSE(fs::exists(folder.path / "none"));
}

TEST_CASE("saving a strategy draws no random number") {
  const ScratchFolder folder;
  TrainingStrategy strategy = whole_strategy(strategy_targets(), 0.5);
  seed_random_streams(8, at::kCPU);
  const at::Tensor expected = at::randn({8});
  seed_random_streams(8, at::kCPU);
  strategy.save_checkpoint(folder.path);
  CHECK(at::equal(at::randn({8}), expected));
}

TEST_CASE("hooks are passed in again, and those with state get it back by their own name") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  strategy.add_hook(std::make_shared<CountingHook>("a", 3));
  strategy.add_hook(std::make_shared<SilentHook>());
  strategy.add_hook(std::make_shared<CountingHook>("b", 5));
  CHECK_THROWS_WITH(strategy.add_hook(std::make_shared<CountingHook>("a")),
                    Contains("E748") && Contains("two hooks are named 'a'"));
  strategy.save_checkpoint(folder.path);
  CHECK_THAT(bytes_of_file(folder.path / "0/trainer.json"), !Contains("secret"));

  const auto a = std::make_shared<CountingHook>("a"), b = std::make_shared<CountingHook>("b"),
             c = std::make_shared<CountingHook>("c", 7);
  (void)TrainingStrategy::load_checkpoint(folder.path, known,
                                          {.hooks = {b, c, std::make_shared<SilentHook>(), a}});
  CHECK(a->count == 3);
  CHECK(b->count == 5);
  CHECK(c->count == 7);
}

TEST_CASE("a saved state that no hook takes is an error, or a warning where the caller asks for those") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy strategy = whole_strategy(known);
  strategy.add_hook(std::make_shared<CountingHook>("ema", 3));
  train(strategy, 2);
  strategy.save_checkpoint(folder.path);
  CHECK_THROWS_WITH(TrainingStrategy::load_checkpoint(folder.path, known),
                    Contains("E842") && Contains("callback/ema") && Contains("pass the hook"));
  Diagnostics warnings;
  (void)TrainingStrategy::load_checkpoint(folder.path, known, {.warnings = &warnings});
  CHECK_THAT(warnings.to_text(), Contains("W767") && Contains("callback/ema"));

  struct Broken final : CheckpointableHook {
    std::string name() const override { return "ema"; }
    TrainingState state() const override { return {}; }
    void load_state(const TrainingState&) override { throw std::runtime_error("no such shadow"); }
  };
  TrainingStrategy live = whole_strategy(known);
  live.add_hook(std::make_shared<Broken>());
  const at::Tensor before = live.model("head").parameters().front().detach().clone();
  CHECK_THROWS_WITH(live.load_checkpoint(folder.path), Contains("'ema'") && Contains("no such shadow"));
  CHECK(at::equal(live.model("head").parameters().front(), before));
  CHECK(live.counters.global_step == 0);
}

TEST_CASE("a folder without a checkpoint and a damaged one are told, and nothing is built") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  CHECK_THROWS_WITH(TrainingStrategy::load_checkpoint(folder.path / "nowhere", known), Contains("E764"));
  TrainingStrategy strategy = whole_strategy(known);
  strategy.save_checkpoint(folder.path);
  std::string bytes = bytes_of_file(folder.path / "0/model.safetensors");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(folder.path / "0/model.safetensors", bytes);
  const int built = Net::built;
  CHECK_THROWS_WITH(TrainingStrategy::load_checkpoint(folder.path, known),
                    Contains("E763") && Contains("model.safetensors"));
  CHECK(Net::built == built);
}

TEST_CASE("a checkpoint whose library is absent says which, and one of another version is reported") {
  const ScratchFolder folder;
  const auto loaded_from = [](const std::string& version) {
    StagedRegistration staged;
    Registration registration(staged);
    register_strategy_targets(registration);
    Diagnostics problems;
    return ComponentRegistry().with(
        staged, {.library = "org.acme", .version = version, .path = "/lib.so", .build_id = version},
        problems);
  };
  whole_strategy(loaded_from("1.2")).save_checkpoint(folder.path);
  CHECK_THROWS_WITH(TrainingStrategy::load_checkpoint(folder.path, ComponentRegistry()),
                    Contains("acme.nn.Net") && Contains("library org.acme 1.2, which is not loaded"));
  Diagnostics warnings;
  (void)TrainingStrategy::load_checkpoint(folder.path, loaded_from("1.3"), {.warnings = &warnings});
  CHECK_THAT(warnings.to_text(), Contains("W768") && Contains("written with org.acme 1.2, this is 1.3"));
}

TEST_CASE("rules save and drop checkpoints while a hand-written loop goes on, also after it was resumed") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  const auto writing =
      GENERATE(TrainingStrategy::Writing::at_once, TrainingStrategy::Writing::beside_training);
  const CheckpointRules rules{.every_epochs = 1, .keep_last = 2, .keep_best = 1, .metric = "loss"};
  const auto kept = [&] { return CheckpointStore(folder.path / "kept").indices(); };
  const auto epochs = [](TrainingStrategy& strategy, std::vector<double> losses) {
    for (const double loss : losses) {
      strategy.epoch_begins();
      for (int batch = 0; batch < 3; ++batch) strategy.batch_done();
      strategy.epoch_done({{"loss", loss}});
    }
    strategy.training_done();
  };
  TrainingStrategy first = whole_strategy(known);
  first.keep_checkpoints(folder.path / "kept", rules, writing);
  epochs(first, {0.5, 0.2, 0.9, 0.8});
  CHECK(kept() == std::vector<std::int64_t>{1, 2, 3});

  TrainingStrategy resumed = TrainingStrategy::load_checkpoint(folder.path / "kept", known);
  CHECK(resumed.counters.epoch == 4);
  resumed.keep_checkpoints(folder.path / "kept", rules, writing);
  epochs(resumed, {0.3, 0.7});
  CHECK(kept() == std::vector<std::int64_t>{1, 4, 5});

  TrainingStrategy elsewhere = TrainingStrategy::load_checkpoint(folder.path / "kept/1", known);
  elsewhere.keep_checkpoints(folder.path / "other", rules, writing);
  epochs(elsewhere, {0.9});
  CHECK(CheckpointStore(folder.path / "other").indices() == std::vector<std::int64_t>{0});
  CHECK(kept() == std::vector<std::int64_t>{1, 4, 5});
  CHECK_THROWS_WITH(first.keep_checkpoints(folder.path, {.keep_last = 3}), Contains("every_steps"));
}

TEST_CASE("hooks hear of a hand-written loop in the order of the trainer, and may end it") {
  struct Listening final : TrainingHook {
    std::vector<std::string> heard;
    std::string name() const override { return "listening"; }
    void fit_start(TrainingView&) override { heard.push_back("fit_start"); }
    void train_epoch_start(TrainingView& view) override { note("epoch_start", view); }
    void train_batch_start(TrainingView& view) override { note("begins", view); }
    void train_batch_end(TrainingView& view) override {
      note("batch", view);
      view.record_step("step", 1);
      CHECK(view.metrics().at("step") == 1);
      CHECK(view.optimizer().groups().front().lr > 0);
    }
    void validation_end(TrainingView& view) override { note("validation", view); }
    void train_epoch_end(TrainingView& view) override {
      note("epoch_end", view);
      view.record("recorded", 3);
    }
    void epoch_end(TrainingView& view) override {
      note("after", view);
      if (view.metrics().at("val/loss") < 0.5) view.request_stop("good enough");
    }
    void fit_end(TrainingView&) override { heard.push_back("fit_end"); }
    void note(const char* what, const TrainingView& view) {
      heard.push_back(std::string(what) + " " + std::to_string(view.epoch()) + "/" +
                      std::to_string(view.global_step()));
    }
  };
  TrainingStrategy strategy = whole_strategy(strategy_targets());
  const auto hook = std::make_shared<Listening>();
  strategy.add_hook(hook);
  for (double loss = 0.6; strategy.stop_reason().empty(); loss -= 0.2) {
    strategy.epoch_begins();
    strategy.batch_begins();
    strategy.batch_done();
    strategy.epoch_done({{"val/loss", loss}});
  }
  strategy.training_done();
  CHECK(strategy.stop_reason() == "good enough");
  CHECK(hook->heard == std::vector<std::string>{"fit_start", "epoch_start 0/0", "begins 0/0", "batch 0/1",
                                                "validation 0/1", "epoch_end 0/1", "after 1/1",
                                                "epoch_start 1/1", "begins 1/1", "batch 1/2",
                                                "validation 1/2", "epoch_end 1/2", "after 2/2", "fit_end"});
}

TEST_CASE("Python loads the weights of several models into a ModuleDict, and computes the same with them") {
  if (!python_is_there()) return;
  const ScratchFolder folder;
  TrainingStrategy strategy = whole_strategy(strategy_targets());
  train(strategy, 3);
  strategy.save_checkpoint(folder.path);
  const at::Tensor input = at::randn({2, 3});
  const TensorDict outputs = Chained().forward(strategy.named_models(), {.x = {{"input", input}}, .y = {}});
  write_safetensors((folder.path / "expected.safetensors").string(),
                    {{"input", input}, {"output", outputs.get("prediction").detach()}});
  CHECK(run_script("check_strategy.py", (folder.path / "0").string()));
}

TEST_CASE("weights of several models are named as those of a ModuleDict, those of one as its own") {
  const ScratchFolder folder;
  const auto known = strategy_targets();
  TrainingStrategy one(known);
  one.add_model("net", std::make_shared<Net>(NetArguments{}));
  one.save_checkpoint(folder.path / "one");
  whole_strategy(known).save_checkpoint(folder.path / "two");
  const auto names = [](const fs::path& file) { return read_safetensors(file.string()).tensors.names(); };
  CHECK_THAT(names(folder.path / "one/0/model.safetensors"),
             Catch::UnorderedEquals(std::vector<std::string>{"linear.weight", "linear.bias"}));
  CHECK_THAT(names(folder.path / "two/0/model.safetensors"),
             Catch::UnorderedEquals(std::vector<std::string>{"encoder.linear.weight", "encoder.linear.bias",
                                                             "head.linear.weight", "head.linear.bias"}));
}
