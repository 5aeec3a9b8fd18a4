// Writes the metrics of each epoch of a run to metrics.csv, and what was recorded of steps to steps.csv.
#pragma once

#include <nexuml/training.h>

#include <filesystem>

#include "track/metrics_csv.h"

namespace nexuml {

class RunLog final : public Callback {
 public:
  explicit RunLog(const std::filesystem::path& folder)
      : csv_(folder / "metrics.csv"), steps_(folder / "steps.csv") {}

  // Rows from `epoch` on, and of the steps after `step`, will be written again.
  void continue_from(std::int64_t epoch, std::int64_t step) {
    csv_.drop_from(static_cast<double>(epoch));
    steps_.drop_from(static_cast<double>(step + 1));
  }
  void step_recorded(std::int64_t step, const OrderedMap<double>& values) {
    OrderedMap<double> row{{"step", static_cast<double>(step)}};
    for (const auto& [name, value] : values) row.append(name, value);
    steps_.add(row);
  }
  void epoch_end(TrainingView& view) override {
    last_ = view.metrics();
    OrderedMap<double> row{{"epoch", static_cast<double>(view.epoch() - 1)},
                           {"step", static_cast<double>(view.global_step())}};
    for (const auto& [name, value] : last_) row.append(name, value);
    csv_.add(row);
  }
  const OrderedMap<double>& last_epoch() const noexcept { return last_; }

 private:
  MetricsCsv csv_, steps_;
  OrderedMap<double> last_;
};

}  // namespace nexuml
