// MetricState: what classification metrics accumulate over one phase.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "metrics/class_counts.h"
#include "metrics/ranking.h"

namespace nexuml_library {

enum class MetricName { accuracy, f1, average_precision };

struct MetricOptions {
  std::int64_t classes = 0;
  Average average = Average::macro;
  std::int64_t top_k = 1;
  bool multi_label = false;
};

class MetricState {
 public:
  explicit MetricState(const MetricOptions& options);

  // logits [batch, classes]; labels [batch], or [batch, classes] for multi-label.
  void add(const at::Tensor& logits, const at::Tensor& labels, const std::vector<MetricName>& wanted);
  // 0 where the metric is undefined.
  double value(MetricName metric) const;
  // Average precision needs something positive.
  bool defined(MetricName metric) const;
  bool empty() const noexcept { return counts_.samples() == 0; }
  void clear();

 private:
  double mean_average_precision() const;
  void add_classes(const at::Tensor& logits, const at::Tensor& labels);
  void add_labels(const at::Tensor& scores, const at::Tensor& labels);
  void add_ranking(const at::Tensor& scores, const at::Tensor& positives);

  MetricOptions options_;
  ClassCounts counts_;        // the largest logit
  ClassCounts top_k_counts_;  // the true class where it is among the top_k, else the largest logit
  std::vector<AveragePrecisionStream> rankings_;  // one per class
};

}  // namespace nexuml_library
