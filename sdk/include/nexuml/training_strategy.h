// TrainingStrategy: everything that a training is at one moment, saved in one call and loaded in one.
//
//     TrainingStrategy strategy(registry);
//     strategy.add_model("net", net);
//     strategy.add_optimizer("net", create_model_spec(registry, "torch.optim.Adam", {{"lr", 1e-3}}));
//     strategy.add_loss(create_model_spec(registry, "torch.nn.MSELoss"));
//     strategy.training_fn = TrainingFunctionRef::named("acme.train:step");
//     while (strategy.counters.epoch < 10) {
//       strategy.epoch_begins();
//       for (const Batch& batch : batches) {
//         strategy.optimizer().zero_grad();
//         strategy.loss(batch).backward();
//         strategy.optimizer().step();
//         strategy.batch_done();
//       }
//       strategy.epoch_done();
//       strategy.save_checkpoint("checkpoints");
//       // or once, before the loop: strategy.keep_checkpoints("checkpoints", rules)
//     }
//
//     // All of it built from the recipes; or into what is there, all or nothing.
//     TrainingStrategy again = TrainingStrategy::load_checkpoint("checkpoints", registry);
//     strategy.load_checkpoint("checkpoints");
//
// A checkpoint holds recipes (recipe.h) and state, no code: the libraries that the recipes name are yours to
// version. Runs of `nexuml-run train` are strategies of one model, `pipeline`, and write the same format;
// each reads the other's. Hooks, `loss_target_assembler` and a training function without a name are passed in
// again. Training that goes on from a checkpoint gives the same bits on the CPU as one that did not stop.
// [training thread]
#pragma once

#include <nexuml/data.h>
#include <nexuml/export.h>
#include <nexuml/model_recipe.h>
#include <nexuml/module.h>
#include <nexuml/ordered_map.h>
#include <nexuml/recipe.h>
#include <nexuml/recipe_build.h>
#include <nexuml/registry.h>
#include <nexuml/strategy_parts.h>
#include <nexuml/tensor_io.h>
#include <nexuml/training.h>
#include <nexuml/training_function.h>
#include <nexuml/weighted_means.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

struct Checkpoint;
struct OmittedModel;
class StrategyLoop;
class VerifiedRecipes;

struct TrainingCounters {
  std::int64_t epoch = 0;        // epochs done
  std::int64_t batch = 0;        // batches done of the epoch in progress
  std::int64_t global_step = 0;  // batches done in all
};

// How long the training is meant to be: schedulers and weight schedules that stretch over it ask.
struct TrainingLength {
  std::int64_t max_epochs = 1;
  std::int64_t steps_per_epoch = 1;
  bool operator==(const TrainingLength&) const = default;
};

// `tensors` and `scalars` hold what is not a weight, by the names of `TrainingStrategy::state`.
struct StrategyState {
  TensorMap model;
  TensorMap tensors;
  Value scalars = Value::map();
};

// When checkpoints are saved, and which of them stay: one stays while one rule keeps it. With no rule all
// stay; with one, the newest always does.
struct CheckpointRules {
  std::int64_t every_steps = 0;   // 0: not by steps
  std::int64_t every_epochs = 0;  // 0: not by epochs
  std::int64_t keep_last = 0;     // the newest N; 0: not by age
  std::int64_t keep_every = 0;    // those of each N-th step, or epoch where it saves by epochs; 0: none
  std::int64_t keep_best = 0;     // the N with the best `metric` of an epoch; 0: none
  std::string metric = "val/loss";
  bool smaller_is_better = true;
  // Told of a save that failed (Error E762); training goes on. Without it the error ends the training.
  std::function<void(const Error&)> on_failure = {};
};

// What a file cannot hold, or shall not decide, when a strategy is rebuilt.
struct StrategyOverrides {
  TrainingFunctionRef training_fn = {};            // wins over the recorded one
  LossTargetAssembler loss_target_assembler = {};  // needed where the saved strategy had one
  StrategyModels models = {};                      // live ones, used in place of building
  std::vector<std::shared_ptr<TrainingHook>> hooks = {};
  at::Device device = at::kCPU;
  std::optional<TrainingLength> length = std::nullopt;  // else the recorded one
  // Gets what is no error: a library of another version, a saved state that no hook takes. Null: the latter
  // is an Error.
  Diagnostics* warnings = nullptr;
};

class NEXUML_EXPORT TrainingStrategy {
 public:
  explicit TrainingStrategy(ComponentRegistry registry = {}, TrainingLength length = {});
  TrainingStrategy(TrainingStrategy&&) noexcept;
  TrainingStrategy& operator=(TrainingStrategy&&) noexcept;
  ~TrainingStrategy();  // an error of a checkpoint that nobody asked for is lost: see `training_done`

  // ---- what takes part

  // The model says how it is rebuilt (model_recipe.h); one that cannot is given with its recipe.
  void add_model(std::string name, std::shared_ptr<torch::nn::Module> module,
                 std::optional<Recipe> recipe = std::nullopt);
  // Built from its recipe, over the parameters of the model. Called `<model>_optimizer` where no name is
  // given.
  Optimizer& add_optimizer(const std::string& model, Recipe recipe, std::string name = {});
  // Built from its recipe. Where no name is given, the one of `net_optimizer` is called `net_scheduler`.
  Scheduler& add_scheduler(const std::string& optimizer, Recipe recipe, std::string name = {},
                           std::int64_t warmup_epochs = 0);
  // `key` names what it compares in the outputs of the training function and in the targets; it may be empty
  // where each has one entry.
  void add_loss(Recipe recipe, LossWeight weight = 1.0, std::string key = {});
  // State is kept for hooks derived from CheckpointableHook, under their own names.
  void add_hook(std::shared_ptr<TrainingHook> hook);

  std::vector<StrategyModel> models;
  std::vector<StrategyOptimizer> optimizers;
  std::vector<StrategyScheduler> schedulers;
  std::vector<StrategyLoss> losses;
  TrainingFunctionRef training_fn;
  LossTargetAssembler loss_target_assembler;  // none: the labels of the batch
  std::vector<NamedCallback> callbacks;       // hooks stand here too
  TrainingCounters counters;
  WeightedMeans epoch_means;  // of the epoch in progress
  at::Device device = at::kCPU;

  const ComponentRegistry& registry() const noexcept { return registry_; }
  const TrainingLength& length() const noexcept { return length_; }

  // By name; without one, the only one there is. Throws Error E748.
  torch::nn::Module& model(std::string_view name = {}) const;
  Optimizer& optimizer(std::string_view name = {}) const;
  Scheduler& scheduler(std::string_view name = {}) const;
  StrategyModels named_models() const;

  // ---- a step

  // The weighted sum of the losses of one batch, a scalar: outputs of `training_fn` against what
  // `loss_target_assembler` gives. Throws Error E748 where one of them is missing.
  at::Tensor loss(const Batch& batch) const;
  // What a loop tells, so that counters go on and hooks hear of it: before the first batch of an epoch (also
  // of one that goes on in its middle), before a batch, after a step of the optimizers, after the last batch
  // (with what was measured, such as "val/loss"), and at the very end. The schedulers are stepped by whoever
  // trains. Only `batch_done` and `epoch_done` are needed where no hook listens to the others.
  void epoch_begins();
  void batch_begins();
  void batch_done();
  void epoch_done(const OrderedMap<double>& metrics = {});
  // Waits for checkpoints that are written beside; throws what went wrong with them.
  void training_done();
  // Why a hook asked to stop: the loop should end. Empty while none did.
  const std::string& stop_reason() const noexcept;

  // ---- as recipes

  // {"models": {name: recipe}, "optimizers": {name: {"model", "spec"}}, "schedulers": {name: {"optimizer",
  // "spec"}}, "losses": [{"spec", "weight"}], "training_fn": name or null}, and where there is something to
  // say "length", "loss_target_assembler", a scheduler's "warmup_epochs" and a loss's "key". Models that give
  // no recipe are left out with the warning W747 `Omitting model spec for '<name>'`. What is as it was in
  // `previous` (a dict of an earlier moment) is taken from there, byte for byte: times stay. Throws Error
  // E748 for two parts of one name, a part that refers to none, a training function without a name, and a
  // weight schedule whose to_spec() gives no recipe of a weight schedule (with its index).
  Value to_spec_dict(Diagnostics& warnings, const Value* previous = nullptr) const;
  // The same for a checkpoint: throws Error E748 `Cannot save strategy checkpoint because model spec
  // generation failed for model(s) [a, b]`, each with its cause.
  Value checkpoint_spec_dict(const Value* previous = nullptr) const;
  // Checks everything before it builds anything, and reports every problem at once. Throws Error E748 where
  // the dict is malformed, and where `training_fn` or `loss_target_assembler` is needed and not passed.
  static TrainingStrategy from_spec_dict(const Value& dict, const ComponentRegistry& registry,
                                         const StrategyOverrides& overrides = {});

  // ---- as state

  // Weights and buffers under `model`: with several models their names begin with the model's, as those of a
  // torch.nn.ModuleDict. The rest as tensors `optimizer/...` and `scheduler/...` (of several
  // `optimizer.<name>/...`), `callback/<name>/...`, `means/...`, `random/...` and scalars of the same parts.
  // Tensors are shared, not copied.
  StrategyState state() const;
  // All or nothing. Throws Error E760 or E842 naming what does not fit; then everything is as it was.
  void restore(const StrategyState& state);
  // Parts of callbacks in `state` that no callback of this strategy takes: "callback/early_stopping".
  std::vector<std::string> unclaimed(const StrategyState& state) const;

  // ---- as checkpoints

  // Saves under the next free index of `folder`, which is made where it is missing, and returns the index.
  // Nothing is written where a part cannot be written down (E748), and nothing is left of a save that failed
  // (E762). What did not change since the last save or load keeps its bytes.
  std::int64_t save_checkpoint(const std::filesystem::path& folder) const;
  // From now on `batch_done` and `epoch_done` save there by these rules, and take away what no rule keeps.
  // `beside_training`: tensors are copied and written by a thread of its own; at most two copies exist. After
  // `load_checkpoint` from this folder the rules go on with the checkpoints that they knew.
  enum class Writing { at_once, beside_training };
  void keep_checkpoints(const std::filesystem::path& folder, CheckpointRules rules,
                        Writing writing = Writing::at_once);
  // Rebuilds models, optimizers, schedulers and losses from the recipes, then loads their state. `folder` is
  // one of checkpoints, whose newest index is meant, one checkpoint, or a run folder. Everything is verified
  // before anything is built. Throws Error E763, E764, and what `from_spec_dict` and `restore` throw.
  static TrainingStrategy load_checkpoint(const std::filesystem::path& folder,
                                          const ComponentRegistry& registry,
                                          const StrategyOverrides& overrides = {});
  // Into the live objects, all or nothing. Throws Error E842 naming models, optimizers and schedulers that
  // one side has and the other lacks.
  void load_checkpoint(const std::filesystem::path& folder, Diagnostics* warnings = nullptr);

 private:
  friend class StrategyBuilder;
  friend class StrategyView;
  // Of a hook: passed over on the way back, so that the rest is put back.
  enum class Failure { thrown, passed };
  void apply(const StrategyState& state, Failure of_hooks);
  Value spec_dict(const Value* previous, std::vector<OmittedModel>& omitted) const;
  Checkpoint plan_checkpoint() const;
  void take_checkpoint(Checkpoint checkpoint, const std::filesystem::path& place, Diagnostics* warnings);

  ComponentRegistry registry_;
  TrainingLength length_;
  std::unique_ptr<StrategyLoop> loop_;
  mutable std::shared_ptr<const TrainingFunction> function_;  // what `training_fn` names, once it was needed
  mutable std::shared_ptr<VerifiedRecipes> verified_;         // recipes that were tried
  mutable Value recipe_;                                      // the dict of the last save or load
};

}  // namespace nexuml
