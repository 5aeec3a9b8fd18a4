// ClassCounts: right and wrong predictions per class, and the metrics that follow from them. Streaming: the
// counts are all that is kept.
//
//     ClassCounts counts(3);
//     counts.add(truth, predicted);
//     std::optional<double> f1 = counts.f1(Average::macro);      // nothing: no class had anything to count
//
// A ratio whose denominator is zero counts as 0 within an average.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nexuml_library {

enum class Average { micro, macro, weighted };
// Which classes a macro average runs over: those seen in truth or prediction, those seen in truth, or all.
enum class AveragedClasses { present, true_only, all };

class ClassCounts {
 public:
  explicit ClassCounts(std::size_t classes) : counts_(classes) {}

  // One class per sample. Throws Error E853 for an index outside of the classes.
  void add(std::int64_t truth, std::int64_t predicted);
  // One decision of a multi-label sample.
  void add_label(std::size_t label, bool truth, bool predicted);

  std::size_t classes() const noexcept { return counts_.size(); }
  std::int64_t samples() const noexcept { return samples_; }

  std::optional<double> precision(Average average, AveragedClasses over = AveragedClasses::present) const;
  // Also called balanced accuracy when it is averaged over classes.
  std::optional<double> recall(Average average, AveragedClasses over = AveragedClasses::present) const;
  std::optional<double> f1(Average average, AveragedClasses over = AveragedClasses::present) const;
  // (tp + tn) / all, averaged over labels: for multi-label counts.
  std::optional<double> label_accuracy(Average average) const;
  // F1 of one class; nothing when it is neither in truth nor predicted.
  std::optional<double> f1_of(std::size_t index) const;

 private:
  struct Counts {
    std::int64_t true_positives = 0, false_positives = 0, false_negatives = 0, true_negatives = 0;
  };
  // numerator / denominator of each class, averaged.
  template <class Ratio>
  std::optional<double> averaged(Average average, AveragedClasses over, Ratio ratio) const;

  std::vector<Counts> counts_;
  std::int64_t samples_ = 0;
};

// Rows are truth, columns predictions; both index `labels`, the sorted union of the labels that occur.
struct ConfusionMatrix {
  std::vector<std::int64_t> labels;
  std::vector<std::vector<std::int64_t>> counts;
};
ConfusionMatrix confusion_matrix(std::span<const std::int64_t> truth,
                                 std::span<const std::int64_t> predicted);

}  // namespace nexuml_library
