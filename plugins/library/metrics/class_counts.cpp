#include "metrics/class_counts.h"

#include <nexuml/diagnostic.h>

#include <algorithm>
#include <string>
#include <utility>

namespace nexuml_library {

void ClassCounts::add(std::int64_t truth, std::int64_t predicted) {
  for (const std::int64_t index : {truth, predicted})
    if (index < 0 || index >= static_cast<std::int64_t>(counts_.size()))
      throw nexuml::Error("E853", "class index " + std::to_string(index) + " is outside of " +
                                      std::to_string(counts_.size()) + " classes");
  ++samples_;
  if (truth == predicted) {
    ++counts_[static_cast<std::size_t>(truth)].true_positives;
  } else {
    ++counts_[static_cast<std::size_t>(truth)].false_negatives;
    ++counts_[static_cast<std::size_t>(predicted)].false_positives;
  }
}

void ClassCounts::add_label(std::size_t label, bool truth, bool predicted) {
  Counts& counts = counts_.at(label);
  if (label == 0) ++samples_;
  if (truth)
    ++(predicted ? counts.true_positives : counts.false_negatives);
  else
    ++(predicted ? counts.false_positives : counts.true_negatives);
}

template <class Ratio>
std::optional<double> ClassCounts::averaged(Average average, AveragedClasses over, Ratio ratio) const {
  const auto value = [](std::pair<double, double> fraction) {
    return fraction.second == 0 ? 0.0 : fraction.first / fraction.second;
  };
  if (average == Average::micro) {
    std::pair<double, double> total{0, 0};
    for (const Counts& counts : counts_) {
      const auto [numerator, denominator] = ratio(counts);
      total.first += numerator;
      total.second += denominator;
    }
    if (total.second == 0) return std::nullopt;
    return value(total);
  }
  double sum = 0, weights = 0;
  for (const Counts& counts : counts_) {
    const auto support = static_cast<double>(counts.true_positives + counts.false_negatives);
    const bool present = support + static_cast<double>(counts.false_positives) > 0;
    const bool counted =
        over == AveragedClasses::all || (over == AveragedClasses::present ? present : support > 0);
    const double weight = average == Average::weighted ? support : counted ? 1.0 : 0.0;
    sum += weight * value(ratio(counts));
    weights += weight;
  }
  if (weights == 0) return std::nullopt;
  return sum / weights;
}

namespace {
double as_double(std::int64_t count) {
  return static_cast<double>(count);
}
}  // namespace

std::optional<double> ClassCounts::precision(Average average, AveragedClasses over) const {
  return averaged(average, over, [](const Counts& c) {
    return std::pair(as_double(c.true_positives), as_double(c.true_positives + c.false_positives));
  });
}

std::optional<double> ClassCounts::recall(Average average, AveragedClasses over) const {
  return averaged(average, over, [](const Counts& c) {
    return std::pair(as_double(c.true_positives), as_double(c.true_positives + c.false_negatives));
  });
}

std::optional<double> ClassCounts::f1(Average average, AveragedClasses over) const {
  return averaged(average, over, [](const Counts& c) {
    return std::pair(2.0 * as_double(c.true_positives),
                     as_double(2 * c.true_positives + c.false_positives + c.false_negatives));
  });
}

std::optional<double> ClassCounts::label_accuracy(Average average) const {
  return averaged(average, AveragedClasses::all, [](const Counts& c) {
    return std::pair(as_double(c.true_positives + c.true_negatives),
                     as_double(c.true_positives + c.true_negatives + c.false_positives + c.false_negatives));
  });
}

std::optional<double> ClassCounts::f1_of(std::size_t index) const {
  const Counts& c = counts_.at(index);
  const std::int64_t denominator = 2 * c.true_positives + c.false_positives + c.false_negatives;
  if (denominator == 0) return std::nullopt;
  return 2.0 * as_double(c.true_positives) / as_double(denominator);
}

ConfusionMatrix confusion_matrix(std::span<const std::int64_t> truth,
                                 std::span<const std::int64_t> predicted) {
  if (truth.size() != predicted.size())
    throw nexuml::Error("E853", "truth and prediction differ in length: " + std::to_string(truth.size()) +
                                    " and " + std::to_string(predicted.size()));
  ConfusionMatrix matrix;
  matrix.labels.assign(truth.begin(), truth.end());
  matrix.labels.insert(matrix.labels.end(), predicted.begin(), predicted.end());
  std::ranges::sort(matrix.labels);
  matrix.labels.erase(std::ranges::unique(matrix.labels).begin(), matrix.labels.end());
  matrix.counts.assign(matrix.labels.size(), std::vector<std::int64_t>(matrix.labels.size()));
  const auto place = [&](std::int64_t label) {
    return static_cast<std::size_t>(std::ranges::lower_bound(matrix.labels, label) - matrix.labels.begin());
  };
  for (std::size_t i = 0; i < truth.size(); ++i) ++matrix.counts[place(truth[i])][place(predicted[i])];
  return matrix;
}

}  // namespace nexuml_library
