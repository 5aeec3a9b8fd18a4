// ScenarioMetrics: the numbers of `evaluation.metrics` over the test rows.
//
//     evaluation: {metrics: [accuracy, f1]}
//
// What is compared follows from the pipeline. Where a loss compares one key with a label, prediction and
// label are: classes ([batch, classes] with [batch]), several labels at once ([batch, labels] with as many of
// 0 and 1) or numbers. Where a loss compares two keys, the second is the reconstruction of the first. Scores
// of anomalies are `score_key` of an algorithm that has one, else `anomaly_score`; 1 in the label means
// anomalous.
//
//   mse, mae, r2   of predicted numbers, else of the reconstruction; r2 is the mean over outputs
//   accuracy, f1   of predicted classes: share of right ones, mean of F1 over classes that occur
//   auc, pauc_N    of scores; pauc_N up to a false positive rate of N percent, standardised (McClish, 1989)
#pragma once

#include <nexuml/evaluation.h>
#include <nexuml/scenario.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

// Sums of a comparison of numbers.
class NumberErrors {
 public:
  void add(const at::Tensor& prediction, const at::Tensor& truth);  // [batch, ...] of as many elements
  std::optional<double> mse() const;
  std::optional<double> mae() const;
  std::optional<double> r2() const;  // nothing where no output varies

 private:
  std::int64_t rows_ = 0, count_ = 0;
  at::Tensor squared_, absolute_, sum_, sum_of_squares_;  // [outputs], double
};

// Counts of right and wrong classes.
class ClassErrors {
 public:
  void add(const at::Tensor& prediction, const at::Tensor& truth);
  std::optional<double> accuracy() const;
  std::optional<double> f1() const;

 private:
  struct Counts {
    std::int64_t hits = 0, predicted = 0, actual = 0;
  };
  std::map<std::int64_t, Counts> counts_;
  std::int64_t right_ = 0, decisions_ = 0;
};

class ScoreRanking {
 public:
  void add(const at::Tensor& scores, const at::Tensor& labels);  // labels other than 0 and 1 are left out
  // Area under the ROC curve up to `max_fpr`; nothing without both classes.
  std::optional<double> area(double max_fpr) const;

 private:
  std::vector<std::pair<double, bool>> scored_;
};

class NEXUML_EXPORT ScenarioMetrics {
 public:
  // Throws Error E856 for a metric of another name.
  explicit ScenarioMetrics(const ScenarioSpec& scenario);

  void add(const EvalBatch& batch);
  // By metric, in the order of the scenario; what has nothing to compare is not there.
  OrderedMap<double> results() const;

 private:
  struct Comparison {
    std::string prediction, truth;
  };
  void find_comparisons(const ScenarioSpec& scenario);
  void find_scores(const ScenarioSpec& scenario);

  Keys metrics_;
  std::optional<Comparison> labelled_, reconstruction_, scored_;
  std::optional<NumberErrors> numbers_, reconstructed_;
  std::optional<ClassErrors> classes_;
  std::optional<ScoreRanking> ranking_;
};

}  // namespace nexuml
