#include "metrics/metric_functions.h"

#include <nexuml/function.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/anomaly_metrics.h"
#include "metrics/class_counts.h"
#include "metrics/dcase_task1_task7.h"
#include "metrics/dcase_task2.h"
#include "metrics/ranking.h"

namespace nexuml_library {

namespace {

using nexuml::TensorDict;
using nexuml::Value;

template <class Compute>
class ComputedFunction final : public nexuml::Function {
 public:
  explicit ComputedFunction(Compute compute) : compute_(std::move(compute)) {}
  Value operator()(const TensorDict& inputs) const override { return compute_(inputs); }

 private:
  Compute compute_;
};

template <class Compute>
std::shared_ptr<nexuml::Function> function(Compute compute) {
  return std::make_shared<ComputedFunction<Compute>>(std::move(compute));
}

template <class Number>
std::vector<Number> column(const TensorDict& inputs, const char* key) {
  const at::Tensor values =
      inputs.get(key).detach().to(at::kCPU, c10::CppTypeToScalarType<Number>::value).flatten().contiguous();
  const auto* data = values.template const_data_ptr<Number>();
  return {data, data + values.numel()};
}

Value number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Value(*value) : Value();
}

// Names of groups come as text or as whole numbers.
std::vector<std::string> names(const std::vector<Value>& values) {
  std::vector<std::string> result;
  for (const Value& value : values) {
    if (value.is_string())
      result.push_back(value.as_string());
    else if (value.is_boolean())
      result.emplace_back(value.as_boolean() ? "true" : "false");
    else if (value.is_number() && std::trunc(value.as_number()) == value.as_number())
      result.push_back(std::to_string(static_cast<std::int64_t>(value.as_number())));
    else
      result.push_back(nexuml::canonical_json(value));
  }
  return result;
}

nexuml::Field max_fpr_field(nexuml::Field field) {
  return field.doc("False positive rate up to which the partial area reaches.").greater_than(0).at_most(1);
}

// Shape: scores [rows], labels [rows]: 1 positive, 0 negative, other rows are left out.
// Formula: area under the ROC curve by trapezoids; its part a up to m = max_fpr as (1 + (a - m^2/2) /
// (m - m^2/2)) / 2; sum over thresholds of (recall step) precision; the best 2 tp / (2 tp + fp + fn) over all
// thresholds.
// Source: McClish, Medical Decision Making 9, 1989; Fawcett, Pattern Recognition Letters 27, 2006
struct AucPaucF1 {
  double max_fpr = 0.1;

  static void describe(nexuml::Schema<AucPaucF1>& s) {
    s.summary("AUC, partial AUC, best F1 and F1 at 0.5 of `scores` against `labels`; null where undefined.");
    max_fpr_field(s.field("max_fpr", &AucPaucF1::max_fpr));
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([limit = max_fpr](const TensorDict& inputs) {
      const LabelledScores valid =
          labelled_scores(column<double>(inputs, "scores"), column<double>(inputs, "labels"));
      const std::vector<TiedScores> ranking = ranked(valid.scores, valid.labels);
      std::vector<std::uint8_t> decided;
      for (const double score : valid.scores) decided.push_back(score >= 0.5);
      return Value::map({{"auc", number(roc_auc(ranking))},
                         {"pauc", number(partial_auc(ranking, limit))},
                         {"average_precision", number(average_precision(ranking))},
                         {"f1_optimal", best_f1(ranking)},
                         {"f1_at_threshold_0.5", decision_f1(decided, valid.labels)}});
    });
  }
};

// Shape: scores [rows], labels [rows]: 1 anomalous, 0 normal, other rows are left out.
// Formula: as auc_pauc_f1, with mean and unbiased deviation of the scores.
struct AnomalyMetrics {
  double max_fpr = 0.1;

  static void describe(nexuml::Schema<AnomalyMetrics>& s) {
    s.summary("What the anomaly evaluator computes of `scores` and `labels`.");
    max_fpr_field(s.field("max_fpr", &AnomalyMetrics::max_fpr));
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([limit = max_fpr](const TensorDict& inputs) {
      Value result = Value::map();
      for (const auto& [key, value] :
           anomaly_metrics(column<double>(inputs, "scores"), column<double>(inputs, "labels"), limit))
        result.set(key, number(value));
      return result;
    });
  }
};

// Formula: n / sum(1 / x) over the positive finite numbers.
struct HarmonicMean {
  std::vector<Value> values = {};

  static void describe(nexuml::Schema<HarmonicMean>& s) {
    s.summary("The harmonic mean of the positive finite ones of `values`; null when there is none.");
    s.field("values", &HarmonicMean::values).doc("Numbers; other entries, such as 'nan', do not count.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([entries = values](const TensorDict&) {
      std::vector<double> numbers;
      for (const Value& entry : entries)
        if (entry.is_number()) numbers.push_back(entry.as_number());
      return number(harmonic_mean(numbers));
    });
  }
};

// Shape: scores [rows], labels [rows], machine, section and domain of each row.
// Formula: of each section the areas with the normals of one domain and all anomalies, and the partial area
// of both; omega is the harmonic mean of all of them.
// Source: DCASE challenge, task 2
struct DcaseTask2 {
  double max_fpr = 0.1;
  std::vector<Value> machine = {}, section = {}, domain = {};

  static void describe(nexuml::Schema<DcaseTask2>& s) {
    s.summary("DCASE task 2 metrics of `scores` and `labels`, by machine, section and domain.");
    max_fpr_field(s.field("max_fpr", &DcaseTask2::max_fpr));
    s.field("machine", &DcaseTask2::machine).doc("Machine of each row.");
    s.field("section", &DcaseTask2::section).doc("Section of each row.");
    s.field("domain", &DcaseTask2::domain).doc("Domain of each row: source or target, 0 or 1.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([limit = max_fpr, machines = names(machine), sections = names(section),
                     domains = names(domain)](const TensorDict& inputs) {
      const std::vector<double> scores = column<double>(inputs, "scores"),
                                labels = column<double>(inputs, "labels");
      return to_value(dcase_task2({scores, labels, machines, sections, domains}, limit));
    });
  }
};

// Shape: scores [rows], labels [rows], groups of each row.
// Formula: as auc_pauc_f1, of each group.
struct Task2PerGroup {
  double max_fpr = 0.1;
  std::vector<Value> groups = {};

  static void describe(nexuml::Schema<Task2PerGroup>& s) {
    s.summary("AUC, partial AUC and best F1 of each group of rows; null where a group has one class only.");
    max_fpr_field(s.field("max_fpr", &Task2PerGroup::max_fpr));
    s.field("groups", &Task2PerGroup::groups).doc("Group of each row.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([limit = max_fpr, rows = names(groups)](const TensorDict& inputs) {
      Value result = Value::map();
      for (const auto& [group, metrics] :
           metrics_per_group(column<double>(inputs, "scores"), column<double>(inputs, "labels"), rows, limit))
        result.set(group, Value::map({{"auc", number(metrics.auc)},
                                      {partial_auc_key(limit), number(metrics.pauc)},
                                      {"f1_optimal", number(metrics.f1_optimal)}}));
      return result;
    });
  }
};

// Shape: y_true_top [rows], y_pred_top [rows] -> [labels, labels].
// Formula: how often the row's label was taken for the column's.
struct Task1Confusion {
  static void describe(nexuml::Schema<Task1Confusion>& s) {
    s.summary("Confusion matrix of `y_true_top` (rows) and `y_pred_top`, over the sorted labels that occur.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([](const TensorDict& inputs) {
      Value rows = Value::list();
      for (const auto& row : confusion_matrix(column<std::int64_t>(inputs, "y_true_top"),
                                              column<std::int64_t>(inputs, "y_pred_top"))
                                 .counts)
        rows.push_back(Value(row));
      return rows;
    });
  }
};

// Shape: y_true_top, y_true_second, y_pred_top, y_pred_second [rows].
// Formula: share of right top labels; means of precision, recall and F1 over the second-level classes of the
// truth.
// Source: DCASE challenge, task 1
struct Task1Hierarchical {
  std::optional<std::int64_t> num_top_classes = std::nullopt;

  static void describe(nexuml::Schema<Task1Hierarchical>& s) {
    s.summary("DCASE task 1: accuracy of the top level, means over the second level.");
    s.field("num_top_classes", &Task1Hierarchical::num_top_classes)
        .doc("Null: those that occur.")
        .at_least(1);
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([classes = num_top_classes](const TensorDict& inputs) {
      const auto true_top = column<std::int64_t>(inputs, "y_true_top"),
                 true_second = column<std::int64_t>(inputs, "y_true_second");
      const auto top = column<std::int64_t>(inputs, "y_pred_top"),
                 second = column<std::int64_t>(inputs, "y_pred_second");
      const Task1Metrics metrics = dcase_task1({true_top, true_second}, {top, second}, classes);
      return Value::map({{"top_level_accuracy", metrics.top_level_accuracy},
                         {"macro_hierarchical_precision", metrics.precision},
                         {"macro_hierarchical_recall", metrics.recall},
                         {"macro_hierarchical_fscore", metrics.fscore},
                         {"num_second_classes", metrics.second_classes},
                         {"num_top_classes", metrics.top_classes}});
    });
  }
};

// Shape: y_true [rows], y_pred [rows], domains of each row.
// Formula: mean over the classes of the truth of the share that was found, of each domain and averaged.
// Source: DCASE challenge, task 7
struct Task7Domains {
  std::vector<Value> domains = {};

  static void describe(nexuml::Schema<Task7Domains>& s) {
    s.summary("DCASE task 7: balanced accuracy of each domain and their mean.");
    s.field("domains", &Task7Domains::domains).doc("Domain of each row.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([rows = names(domains)](const TensorDict& inputs) {
      Value result = Value::map();
      for (const auto& [key, value] :
           dcase_task7(column<std::int64_t>(inputs, "y_true"), column<std::int64_t>(inputs, "y_pred"), rows))
        result.set(key, value);
      return result;
    });
  }
};

// Formula: the values of each key, one after the other.
struct Task7Table {
  std::vector<nexuml::OrderedMap<double>> results = {};

  static void describe(nexuml::Schema<Task7Table>& s) {
    s.summary("DCASE task 7: the results of one training step after the other, as columns.");
    s.field("results", &Task7Table::results).doc("Metrics of each step.");
  }
  std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
    return function([steps = results](const TensorDict&) {
      Value table = Value::map();
      for (const auto& [key, values] : dcase_task7_table(steps)) table.set(key, Value(values));
      return table;
    });
  }
};

}  // namespace

void register_metric_functions(nexuml::Registration& registry) {
  registry.add_target<AucPaucF1>("nexuml_library.metrics:auc_pauc_f1");
  registry.add_target<AnomalyMetrics>("nexuml_library.metrics:anomaly_metrics");
  registry.add_target<HarmonicMean>("nexuml_library.metrics:harmonic_mean");
  registry.add_target<DcaseTask2>("nexuml_library.metrics:dcase_task2");
  registry.add_target<Task2PerGroup>("nexuml_library.metrics:task2_metrics_per_group");
  registry.add_target<Task1Confusion>("nexuml_library.metrics:task1_top_level_confusion");
  registry.add_target<Task1Hierarchical>("nexuml_library.metrics:task1_hierarchical_metrics");
  registry.add_target<Task7Domains>("nexuml_library.metrics:task7_domain_metrics");
  registry.add_target<Task7Table>("nexuml_library.metrics:task7_incremental_table");
}

}  // namespace nexuml_library
