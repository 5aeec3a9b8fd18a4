#include "evaluation/classification_report.h"

#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>

#include "evaluation/class_numbers.h"
#include "evaluation/table_file.h"
#include "metrics/class_counts.h"

namespace nexuml_library {

namespace {

// One class against the others. Empty: the denominator is 0.
struct ClassScores {
  std::optional<double> precision, recall, f1;
  std::int64_t support = 0;    // samples of this class
  std::int64_t predicted = 0;  // samples called this class
};

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

nexuml::Value or_null(const std::optional<double>& number) {
  return number ? nexuml::Value(*number) : nexuml::Value();
}

class ReportRuntime final : public nexuml::EvalAlgorithm {
 public:
  explicit ReportRuntime(const nexuml::EvalBuildContext& context)
      : name_(context.name),
        feature_key_(context.feature_key.value_or("class_logits")),
        label_key_(class_label_key(context)),
        class_names_(context.names_of(label_key_)) {}

  void eval_batch(const nexuml::EvalBatch& batch) override {
    const at::Tensor& output = batch.tensor(feature_key_, name_);
    const auto predicted = predictions(output);
    const auto truth = class_numbers(batch.label(label_key_, name_), label_key_);
    if (truth.size() != predicted.size())
      throw nexuml::Error("E853",
                          fmt::format("{} predictions and {} labels", predicted.size(), truth.size()));
    if (!counts_) start(output.dim() == 2 ? output.size(1) : 1);
    for (std::size_t row = 0; row < truth.size(); ++row) {
      counts_->add(truth[row], predicted[row]);
      ++confusion_[static_cast<std::size_t>(truth[row])][static_cast<std::size_t>(predicted[row])];
    }
  }

  nexuml::OrderedMap<double> results() const override {
    nexuml::OrderedMap<double> numbers;
    if (!counts_) return numbers;
    const auto set = [&](const char* key, const std::optional<double>& number) {
      if (number) numbers[key] = *number;
    };
    set("accuracy", ratio(correct(), counts_->samples()));
    set("precision_macro", counts_->precision(Average::macro));
    set("recall_macro", counts_->recall(Average::macro));
    set("f1_macro", counts_->f1(Average::macro));
    set("f1_weighted", counts_->f1(Average::weighted));
    numbers["samples"] = static_cast<double>(counts_->samples());
    return numbers;
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (!counts_) return;
    write_text(folder / "classification_report.json", nexuml::write_json(report()) + "\n");
    write_text(folder / "classification_report.csv", scores_table().text());
    write_text(folder / "confusion_matrix.csv", confusion_table().text());
  }

 private:
  // The number of classes: what the data says, or what the pipeline gives.
  void start(std::int64_t outputs) {
    const std::size_t classes =
        std::max(class_names_.size(), outputs > 1 ? static_cast<std::size_t>(outputs) : 0);
    if (classes == 0)
      throw nexuml::Error("E853", fmt::format("the number of classes of '{}' is unknown", label_key_), {},
                          "set data.num_classes, or let feature_key name logits");
    for (std::size_t i = class_names_.size(); i < classes; ++i) class_names_.push_back(std::to_string(i));
    counts_.emplace(classes);
    confusion_.assign(classes, std::vector<std::int64_t>(classes));
  }

  // Logits of the one class that there is choose it.
  std::vector<std::int64_t> predictions(const at::Tensor& output) const {
    const bool one_class = class_names_.size() == 1 && output.dim() == 2 && output.size(1) == 1;
    return one_class ? std::vector<std::int64_t>(static_cast<std::size_t>(output.size(0)))
                     : class_numbers(output, feature_key_);
  }

  std::int64_t correct() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < confusion_.size(); ++i) sum += confusion_[i][i];
    return sum;
  }

  ClassScores scores_of(std::size_t index) const {
    ClassScores scores;
    for (std::size_t other = 0; other < confusion_.size(); ++other) {
      scores.support += confusion_[index][other];
      scores.predicted += confusion_[other][index];
    }
    scores.precision = ratio(confusion_[index][index], scores.predicted);
    scores.recall = ratio(confusion_[index][index], scores.support);
    scores.f1 = counts_->f1_of(index);
    return scores;
  }

  nexuml::Value report() const {
    nexuml::Value classes = nexuml::Value::list();
    for (std::size_t i = 0; i < class_names_.size(); ++i) {
      const ClassScores scores = scores_of(i);
      classes.push_back(nexuml::Value::map({{"class", class_names_[i]},
                                            {"precision", or_null(scores.precision)},
                                            {"recall", or_null(scores.recall)},
                                            {"f1", or_null(scores.f1)},
                                            {"support", scores.support},
                                            {"predicted", scores.predicted}}));
    }
    nexuml::Value report = nexuml::Value::map({{"label_key", label_key_}, {"feature_key", feature_key_}});
    for (const auto& [key, number] : results()) report.set(key, number);
    report.set("samples", counts_->samples());
    report.set("classes", std::move(classes));
    nexuml::Value rows = nexuml::Value::list();
    for (const auto& row : confusion_) rows.push_back(nexuml::Value(row));
    report.set("confusion_matrix", std::move(rows));
    return report;
  }

  TableFile scores_table() const {
    TableFile table({"class", "precision", "recall", "f1", "support", "predicted"});
    for (std::size_t i = 0; i < class_names_.size(); ++i) {
      const ClassScores scores = scores_of(i);
      table.add(class_names_[i], scores.precision, scores.recall, scores.f1, scores.support,
                scores.predicted);
    }
    return table;
  }

  // Rows are labels, columns predictions.
  TableFile confusion_table() const {
    std::vector<std::string> header{"label"};
    header.insert(header.end(), class_names_.begin(), class_names_.end());
    TableFile table(std::move(header));
    for (std::size_t i = 0; i < confusion_.size(); ++i) table.add(class_names_[i], confusion_[i]);
    return table;
  }

  const std::string name_, feature_key_, label_key_;
  std::vector<std::string> class_names_;
  std::optional<ClassCounts> counts_;
  std::vector<std::vector<std::int64_t>> confusion_;  // [label][prediction]
};

}  // namespace

void ClassificationReport::describe(nexuml::Schema<ClassificationReport>& s) {
  s.summary(
      "Accuracy, precision, recall and F1 of each class, and the confusion matrix, as numbers, JSON and "
      "CSV.\n"
      "reads: feature_key (null: class_logits) as [batch, classes] or class numbers, label_key as class "
      "numbers");
}

std::shared_ptr<nexuml::EvalAlgorithm> ClassificationReport::build(
    const nexuml::EvalBuildContext& context) const {
  return std::make_shared<ReportRuntime>(context);
}

}  // namespace nexuml_library
