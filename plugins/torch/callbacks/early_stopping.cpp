#include "callbacks/early_stopping.h"

#include <fmt/format.h>

#include <cmath>

namespace nexuml_torch {

namespace {

class EarlyStoppingRuntime final : public nexuml::Callback {
 public:
  explicit EarlyStoppingRuntime(EarlyStopping options)
      : options_(std::move(options)), best_(worst(options_.mode)) {}

  void epoch_end(nexuml::TrainingView& view) override {
    if (!options_.strict && !view.metrics().contains(options_.monitor)) return;
    const double value = monitored_value(view, options_.monitor, "EarlyStopping");
    if (const std::string reason = reason_to_stop(value); !reason.empty()) view.request_stop(reason);
  }

  nexuml::TrainingState state() const override {
    nexuml::TrainingState state;
    if (std::isfinite(best_)) state.scalars.set("best_score", best_);
    state.scalars.set("wait_count", waited_);
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    const nexuml::Value* best = state.scalars.find("best_score");
    best_ = best ? best->as_number() : worst(options_.mode);
    waited_ = state.scalars.at("wait_count").as_integer();
  }

 private:
  // Empty while the training may go on.
  std::string reason_to_stop(double value) {
    const std::string& name = options_.monitor;
    if (options_.check_finite && !std::isfinite(value))
      return fmt::format("{} is {}: not finite; the last finite best is {}", name, value, best_);
    if (options_.stopping_threshold && improves(options_.mode, value, *options_.stopping_threshold, 0))
      return fmt::format("{} reached {}, better than {}", name, value, *options_.stopping_threshold);
    if (options_.divergence_threshold && improves(options_.mode, *options_.divergence_threshold, value, 0))
      return fmt::format("{} reached {}, worse than {}", name, value, *options_.divergence_threshold);
    if (improves(options_.mode, value, best_, options_.min_delta)) {
      best_ = value;
      waited_ = 0;
      return {};
    }
    if (++waited_ < options_.patience) return {};
    return fmt::format("{} did not improve on {} in {} epochs", name, best_, waited_);
  }

  const EarlyStopping options_;
  double best_;
  std::int64_t waited_ = 0;
};

}  // namespace

void EarlyStopping::describe(nexuml::Schema<EarlyStopping>& s) {
  s.summary("Ends a training whose metric no longer improves, as Lightning's EarlyStopping.");
  s.field("monitor", &EarlyStopping::monitor).doc("The metric to watch, such as val/loss.").required();
  s.field("min_delta", &EarlyStopping::min_delta).doc("An improvement is larger than this.").at_least(0);
  s.field("patience", &EarlyStopping::patience).doc("Epochs without improvement before the end.").at_least(0);
  s.field("verbose", &EarlyStopping::verbose).doc("Accepted; the reason is always told.");
  s.field("mode", &EarlyStopping::mode).doc("Whether smaller or larger is better.");
  s.field("strict", &EarlyStopping::strict).doc("A missing metric is an error.");
  s.field("check_finite", &EarlyStopping::check_finite)
      .doc("Stop at once where the metric is NaN or infinite.");
  s.field("stopping_threshold", &EarlyStopping::stopping_threshold)
      .doc("Stop as soon as the metric is better.");
  s.field("divergence_threshold", &EarlyStopping::divergence_threshold).doc("Stop as soon as it is worse.");
  s.field("check_on_train_epoch_end", &EarlyStopping::check_on_train_epoch_end)
      .doc("Accepted; the check is at the end of the epoch, after validation.");
  s.field("log_rank_zero_only", &EarlyStopping::log_rank_zero_only).doc("Accepted; has no effect.");
}

std::shared_ptr<nexuml::Callback> EarlyStopping::build(const nexuml::CallbackBuildContext&) const {
  return std::make_shared<EarlyStoppingRuntime>(*this);
}

}  // namespace nexuml_torch
