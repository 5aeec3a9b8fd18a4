#include "train/checkpoint_hook.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

namespace nexuml {
namespace {

using Indices = std::set<std::int64_t>;

// A training that only counts: five steps an epoch, `val/loss` as given for each epoch.
class CountedTraining final : public TrainingView {
 public:
  explicit CountedTraining(std::vector<double> losses, std::int64_t first_index = 0)
      : losses_(std::move(losses)), next_(first_index) {}

  std::int64_t epoch() const override { return epoch_; }
  std::int64_t max_epochs() const override { return static_cast<std::int64_t>(losses_.size()); }
  std::int64_t batch() const override { return step_ % 5; }
  std::int64_t num_batches() const override { return 5; }
  std::int64_t global_step() const override { return step_; }
  OrderedMap<double> metrics() const override {
    if (epoch_ == 0) return {};
    return {{"val/loss", losses_[static_cast<std::size_t>(epoch_ - 1)]}};
  }
  const Optimizer& optimizer() const override { throw Error("E846", "this training has no optimizer"); }
  at::Device device() const override { return at::kCPU; }
  void record(const std::string&, double) override {}
  void record_step(const std::string&, double) override {}
  void request_stop(const std::string&) override {}
  std::int64_t next_checkpoint() const override { return next_; }
  std::int64_t save_checkpoint() override {
    if (disk_full) throw Error("E762", "the checkpoint cannot be written: No space left on device");
    if (saving) state_while_saving = saving->state();
    there.insert(next_);
    return next_++;
  }
  void remove_checkpoint(std::int64_t index) override { there.erase(index); }

  void run(CheckpointHook& hook, std::int64_t until = 1000) {
    for (; epoch_ < std::min(until, max_epochs());) {
      for (int batch = 0; batch < 5; ++batch) {
        ++step_;
        hook.train_batch_end(*this);
      }
      ++epoch_;
      hook.epoch_end(*this);
    }
  }
  void start_at(std::int64_t epoch) {
    epoch_ = epoch;
    step_ = 5 * epoch;
  }

  Indices there;
  bool disk_full = false;
  const CheckpointHook* saving = nullptr;
  TrainingState state_while_saving;

 private:
  std::vector<double> losses_;
  std::int64_t epoch_ = 0, step_ = 0, next_;
};

}  // namespace

TEST_CASE("without a rule every checkpoint stays, by steps and by epochs, and no step is saved twice") {
  CountedTraining training(std::vector<double>(4, 1.0));
  CheckpointHook hook({.every_steps = 5, .every_epochs = 1});
  training.run(hook);
  CHECK(training.there == Indices{0, 1, 2, 3});
  CountedTraining by_steps(std::vector<double>(4, 1.0));
  CheckpointHook often({.every_steps = 3});
  by_steps.run(often);
  CHECK(by_steps.there.size() == 6);
}

TEST_CASE("keep-last keeps the newest") {
  CountedTraining training(std::vector<double>(10, 1.0));
  CheckpointHook hook({.every_epochs = 1, .keep_last = 3});
  training.run(hook);
  CHECK(training.there == Indices{7, 8, 9});
}

TEST_CASE("keep-every keeps those of each N-th epoch, and the newest") {
  CountedTraining training(std::vector<double>(11, 1.0));
  CheckpointHook hook({.every_epochs = 1, .keep_every = 4});
  training.run(hook);
  CHECK(training.there == Indices{3, 7, 10});  // epochs 4, 8 and 11
}

TEST_CASE(
    "keep-best keeps those with the best metric, of equals the earlier, and never one without a number") {
  const std::vector<double> losses{5, 3, std::nan(""), 1, 4, 1, 2, 9};
  CountedTraining training(losses);
  CheckpointHook hook({.every_epochs = 1, .keep_best = 2});
  training.run(hook);
  CHECK(training.there == Indices{3, 5, 7});
  CountedTraining largest(losses);
  CheckpointHook other({.every_epochs = 1, .keep_best = 1, .smaller_is_better = false});
  largest.run(other);
  CHECK(largest.there == Indices{7});
}

TEST_CASE("a checkpoint stays while one rule keeps it") {
  CountedTraining training({9, 1, 8, 7, 6, 5, 4, 3});
  CheckpointHook hook({.every_epochs = 1, .keep_last = 2, .keep_every = 3, .keep_best = 1});
  training.run(hook);
  CHECK(training.there == Indices{1, 2, 5, 6, 7});
}

TEST_CASE("a metric for the best checkpoints that no epoch gives is refused with those that there are") {
  CountedTraining training({1, 2});
  CheckpointHook hook({.every_epochs = 1, .keep_best = 1, .metric = "val_loss"});
  CHECK_THROWS_WITH(training.run(hook), Catch::Contains("E812") && Catch::Contains("val/loss"));
}

TEST_CASE("a save that fails is told and removes nothing, and the next one is tried") {
  CountedTraining training(std::vector<double>(6, 1.0));
  int told = 0;
  CheckpointHook hook({.every_epochs = 1, .keep_last = 1, .on_failure = [&](const Error&) { ++told; }});
  training.run(hook, 2);
  CHECK(training.there == Indices{1});
  training.disk_full = true;
  training.run(hook, 4);
  CHECK(told == 2);
  CHECK(training.there == Indices{1});
  training.disk_full = false;
  training.run(hook);
  CHECK(training.there == Indices{3});
  CheckpointHook strict({.every_epochs = 1});
  CountedTraining other({1});
  other.disk_full = true;
  CHECK_THROWS_WITH(other.run(strict), Catch::Contains("E762"));
}

TEST_CASE("a continued run keeps and drops as one that was never interrupted") {
  const std::vector<double> losses{9, 1, 8, 7, 6, 5, 4, 3};
  const CheckpointHook::Options options{.every_epochs = 1, .keep_last = 2, .keep_every = 3, .keep_best = 1};
  CountedTraining whole(losses);
  CheckpointHook uninterrupted(options);
  whole.run(uninterrupted);
  for (std::int64_t stop = 1; stop < 8; ++stop) {
    INFO("stopped after epoch " << stop);
    CountedTraining first(losses);
    CheckpointHook before(options);
    first.saving = &before;
    first.run(before, stop);
    CheckpointHook after(options);
    after.load_state(first.state_while_saving);  // what the newest checkpoint holds
    after.continue_from(*first.there.rbegin());
    CountedTraining second(losses, *first.there.rbegin() + 1);
    second.there = first.there;
    second.start_at(stop);
    second.run(after);
    CHECK(second.there == whole.there);
  }
}

TEST_CASE("a run that goes on in another folder forgets the checkpoints of the first") {
  CountedTraining first(std::vector<double>(8, 1.0));
  CheckpointHook before({.every_epochs = 1, .keep_last = 2});
  first.saving = &before;
  first.run(before, 3);
  CheckpointHook after({.every_epochs = 1, .keep_last = 2});
  after.load_state(first.state_while_saving);
  after.continue_from(std::nullopt);
  CountedTraining second(std::vector<double>(8, 1.0), 3);
  second.start_at(3);
  second.run(after);
  CHECK(second.there == Indices{6, 7});
}

}  // namespace nexuml
