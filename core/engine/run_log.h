// Writes the metrics of each epoch of a run to metrics.csv, and what was recorded of steps to steps.csv.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/training.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "track/metrics_csv.h"

namespace nexuml {

class RunLog final : public Callback {
 public:
  // `on_failure` is told of rows that could not be written (Error E849), once until they can be: training
  // goes on, and they are written when there is room.
  RunLog(const std::filesystem::path& folder, std::function<void(const Error&)> on_failure)
      : csv_(folder / "metrics.csv"), steps_(folder / "steps.csv"), on_failure_(std::move(on_failure)) {}

  // Rows from `epoch` on, and of the steps after `step`, will be written again.
  void continue_from(std::int64_t epoch, std::int64_t step) {
    csv_.drop_from(static_cast<double>(epoch));
    steps_.drop_from(static_cast<double>(step + 1));
  }
  void step_recorded(std::int64_t step, const OrderedMap<double>& values) {
    OrderedMap<double> row{{"step", static_cast<double>(step)}};
    for (const auto& [name, value] : values) row.append(name, value);
    tried([&] { steps_.add(row); });
  }
  void epoch_end(TrainingView& view) override {
    last_ = view.metrics();
    OrderedMap<double> row{{"epoch", static_cast<double>(view.epoch() - 1)},
                           {"step", static_cast<double>(view.global_step())}};
    for (const auto& [name, value] : last_) row.append(name, value);
    tried([&] { csv_.add(row); });
  }
  void fit_end(TrainingView&) override {
    tried([&] { csv_.write_waiting(), steps_.write_waiting(); });
  }
  const OrderedMap<double>& last_epoch() const noexcept { return last_; }

 private:
  template <class Write>
  void tried(const Write& write) {
    try {
      write();
      failing_ = false;
    } catch (const Error& error) {
      if (!std::exchange(failing_, true)) on_failure_(error);
    }
  }

  MetricsCsv csv_, steps_;
  std::function<void(const Error&)> on_failure_;
  bool failing_ = false;
  OrderedMap<double> last_;
};

}  // namespace nexuml
