// A training whose numbers a test gives, and callbacks of the shipped library on it.
#pragma once

#include <nexuml/training.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins_library/shipped_registry.h"

namespace torch_tests {

class GivenOptimizer final : public nexuml::Optimizer {
 public:
  explicit GivenOptimizer(std::vector<Group> groups) : Optimizer(std::move(groups)) {}
  void step() override {}
};

class GivenTraining final : public nexuml::TrainingView {
 public:
  explicit GivenTraining(std::vector<nexuml::Optimizer::Group> groups = {{.parameters = {}, .lr = 0.1}})
      : optimizer_(std::move(groups)) {}

  std::int64_t epoch() const override { return epoch_; }
  std::int64_t max_epochs() const override { return 100; }
  std::int64_t batch() const override { return batch_; }
  std::int64_t num_batches() const override { return 10; }
  std::int64_t global_step() const override { return 10 * epoch_ + batch_; }
  nexuml::OrderedMap<double> metrics() const override { return metrics_; }
  const nexuml::Optimizer& optimizer() const override { return optimizer_; }
  at::Device device() const override { return at::kCPU; }
  void record(const std::string& name, double value) override { recorded[name] = value; }
  void record_step(const std::string& name, double value) override { step_recorded[name] = value; }
  void request_stop(const std::string& reason) override { stopped = reason; }
  std::int64_t next_checkpoint() const override { return next_index_; }
  std::int64_t save_checkpoint() override {
    if (disk_full) throw nexuml::Error("E762", "the checkpoint cannot be written: No space left on device");
    if (saving) state_while_saving = saving->state();
    saved.push_back(next_index_);
    return next_index_++;
  }
  void remove_checkpoint(std::int64_t index) override { std::erase(saved, index); }

  void end_epoch(nexuml::Callback& callback, double value) {
    metrics_ = {{"train/loss", 1.0}, {"val/loss", value}};
    ++epoch_;
    batch_ = 0;
    callback.epoch_end(*this);
  }
  void take_batch(nexuml::Callback& callback) {
    step_recorded.clear();
    callback.train_batch_start(*this);
    ++batch_;
    callback.train_batch_end(*this);
  }
  GivenOptimizer& given_optimizer() { return optimizer_; }

  std::optional<std::string> stopped;
  std::vector<std::int64_t> saved;
  bool disk_full = false;
  nexuml::Callback* saving = nullptr;  // whose state goes into the checkpoint
  nexuml::TrainingState state_while_saving;
  nexuml::OrderedMap<double> recorded, step_recorded;

 private:
  GivenOptimizer optimizer_;
  std::int64_t epoch_ = 0, batch_ = 0, next_index_ = 0;
  nexuml::OrderedMap<double> metrics_;
};

inline std::shared_ptr<nexuml::Callback> callback(const std::string& name, const nexuml::Value& kwargs,
                                                  nexuml::CallbackBuildContext context = {}) {
  if (context.run_folder.empty()) context.run_folder = "/tmp";
  return library_tests::shipped_registry()
      .make<nexuml::TargetKind::callback>("lightning.pytorch.callbacks." + name, nexuml::Value::list(),
                                          kwargs)
      ->build(context);
}

// What building a callback with these arguments is refused with.
inline std::string refusal(const std::string& name, const nexuml::Value& kwargs) {
  try {
    (void)callback(name, kwargs);
  } catch (const nexuml::Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace torch_tests
