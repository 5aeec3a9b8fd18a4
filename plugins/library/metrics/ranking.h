// Metrics of scores against labels: how well higher scores mean positive. O(n log n), ties count half, in
// double. With one class only they are undefined: nothing is returned, never 0.
//
//     std::optional<double> auc = roc_auc(scores, labels);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nexuml_library {

// Scores that are equal, from the highest to the lowest.
struct TiedScores {
  double score = 0;
  std::int64_t positives = 0;
  std::int64_t count = 0;
};

// `labels` are 1 for positive. Throws Error E853 for unequal lengths and for a score that is not a number.
std::vector<TiedScores> ranked(std::span<const double> scores, std::span<const std::uint8_t> labels);

// Area under the ROC curve, trapezoidal.
std::optional<double> roc_auc(std::span<const TiedScores> ranking);
// Area up to a false positive rate in (0, 1], standardised after McClish (1989): 0.5 is chance, 1 is perfect.
std::optional<double> partial_auc(std::span<const TiedScores> ranking, double max_fpr);
// Sum over thresholds of (recall step) * precision, without interpolation. Undefined without positives.
std::optional<double> average_precision(std::span<const TiedScores> ranking);
// The best F1 over all thresholds; 0 without positives.
double best_f1(std::span<const TiedScores> ranking);

// Average precision over batches: what was seen is kept sorted, so a value between batches costs no sort.
class AveragePrecisionStream {
 public:
  void add(std::span<const double> scores, std::span<const std::uint8_t> labels);
  std::optional<double> value() const { return average_precision(ranking_); }
  std::int64_t positives() const noexcept { return positives_; }
  void clear() noexcept { *this = {}; }

 private:
  std::vector<TiedScores> ranking_;
  std::int64_t positives_ = 0;
};

}  // namespace nexuml_library
