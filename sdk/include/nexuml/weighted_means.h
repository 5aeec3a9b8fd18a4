// Means over samples of values that come as means over batches.
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>
#include <nexuml/training.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace nexuml {

// Every batch counts by its number of samples, so the result does not depend on how samples fall into
// batches. Sums are kept in double. Values on a GPU are summed there: adding never waits for the device.
class NEXUML_EXPORT WeightedMeans {
 public:
  // `value` is the mean of `samples` samples, a scalar.
  void add(std::string_view name, const at::Tensor& value, std::int64_t samples);
  OrderedMap<double> means() const;
  bool empty() const noexcept { return entries_.empty(); }
  void clear() noexcept { entries_.clear(); }

  // Sums as tensors and counts as scalars: an epoch that was left in the middle continues with the same bits.
  TrainingState state() const;
  void load_state(const TrainingState& state);

 private:
  struct Entry {
    double sum = 0;
    at::Tensor device_sum;  // double, defined where values come from a GPU
    std::int64_t samples = 0;
  };
  OrderedMap<Entry> entries_;
};

}  // namespace nexuml
