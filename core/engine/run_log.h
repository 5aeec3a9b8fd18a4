// Writes the metrics of each epoch of a run to metrics.csv.
#pragma once

#include <nexuml/training.h>

#include <filesystem>

#include "track/metrics_csv.h"

namespace nexuml {

class RunLog final : public Callback {
 public:
  explicit RunLog(std::filesystem::path path) : csv_(std::move(path)) {}

  // Rows from `epoch` on will be written again.
  void continue_from(std::int64_t epoch) { csv_.drop_from(static_cast<double>(epoch)); }
  void epoch_end(TrainingView& view) override {
    last_ = view.metrics();
    OrderedMap<double> row{{"epoch", static_cast<double>(view.epoch() - 1)},
                           {"step", static_cast<double>(view.global_step())}};
    for (const auto& [name, value] : last_) row.append(name, value);
    csv_.add(row);
  }
  const OrderedMap<double>& last_epoch() const noexcept { return last_; }

 private:
  MetricsCsv csv_;
  OrderedMap<double> last_;
};

}  // namespace nexuml
