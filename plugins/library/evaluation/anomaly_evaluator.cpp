#include "evaluation/anomaly_evaluator.h"

#include <nexuml/evaluation.h>

#include <cmath>
#include <fstream>

#include "evaluation/batch_columns.h"
#include "metrics/anomaly_metrics.h"
#include "metrics/dcase_task2.h"

namespace nexuml_library {

namespace {

constexpr const char* default_label_key = "y_true";

void append(std::vector<double>& column, const at::Tensor& values) {
  const at::Tensor flat = values.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
  const auto* data = flat.const_data_ptr<double>();
  column.insert(column.end(), data, data + flat.numel());
}

// Axis values as names; whole numbers without a fraction.
void append(std::vector<std::string>& column, const at::Tensor& values) {
  std::vector<double> numbers;
  append(numbers, values);
  for (const double number : numbers)
    column.push_back(std::trunc(number) == number ? std::to_string(static_cast<std::int64_t>(number))
                                                  : std::to_string(number));
}

class AnomalyEvaluatorRuntime final : public nexuml::EvalAlgorithm {
 public:
  AnomalyEvaluatorRuntime(const nexuml::EvalBuildContext& context, const AnomalyEvaluator& definition)
      : context_(context),
        definition_(definition),
        label_key_(context.label_key.value_or(default_label_key)) {
    for (const char* axis : {"machine", "section", "domain"}) {
      const std::string* key =
          definition.dcase_metric_axes ? definition.dcase_metric_axes->find(axis) : nullptr;
      if (key) axes_[axis].key = *key;
    }
  }

  void eval_batch(const nexuml::EvalBatch& batch) override {
    append(scores_, batch.tensor(definition_.score_key, "anomaly_evaluator"));
    if (const at::Tensor* labels = batch.y ? batch.y->find(label_key_) : nullptr) append(labels_, *labels);
    if (const at::Tensor* decisions =
            definition_.decision_key ? batch.x.find(*definition_.decision_key) : nullptr)
      append(decisions_, *decisions);
    for (auto& [name, axis] : axes_) add_axis(batch, axis);
    for (const std::string& key : definition_.group_keys.value_or(std::vector<std::string>{})) {
      groups_[key].key = key;
      add_axis(batch, groups_[key]);
    }
  }

  void eval_end() override {
    if (scores_.empty()) return;
    if (labels_.size() != scores_.size()) labels_.assign(scores_.size(), std::nan(""));
    results_ = anomaly_metrics(scores_, labels_, definition_.max_fpr);
    add_decisions();
    add_groups();
    add_task2();
  }

  nexuml::OrderedMap<double> results() const override { return results_; }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (task2_.is_null()) return;
    std::ofstream(folder / "dcase_task2.json") << nexuml::write_json(task2_) << '\n';
  }

 private:
  struct Axis {
    std::string key;
    std::vector<std::string> values;
  };

  // What the scenario's axis_keys say; else a label, a feature or a column of the metadata.
  void add_axis(const nexuml::EvalBatch& batch, Axis& axis) const {
    if (const std::string source = axis_source(context_, axis.key); !source.empty()) {
      const std::vector<std::string> texts = column_texts(batch, context_, axis.key, source);
      axis.values.insert(axis.values.end(), texts.begin(), texts.end());
      return;
    }
    const at::Tensor* found = batch.y ? batch.y->find(axis.key) : nullptr;
    if (!found) found = batch.x.find(axis.key);
    const nexuml::MetadataColumn* column = batch.metadata.find(axis.key);
    if (found)
      append(axis.values, *found);
    else if (column && std::holds_alternative<at::Tensor>(*column))
      append(axis.values, std::get<at::Tensor>(*column));
    else if (column)
      for (const std::string& value : std::get<std::vector<std::string>>(*column))
        axis.values.push_back(value);
  }

  void add_decisions() {
    if (decisions_.size() != labels_.size()) return;
    std::vector<std::uint8_t> decided, labels;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (labels_[i] == 0 || labels_[i] == 1) {
        decided.push_back(decisions_[i] != 0);
        labels.push_back(labels_[i] == 1);
      }
    if (!labels.empty()) results_["f1_decision"] = decision_f1(decided, labels);
  }

  // <key>/<group>/auc, where a group has both classes, and <key>/auc, the mean over those groups.
  void add_groups() {
    for (const auto& [key, axis] : groups_) {
      if (axis.values.size() != scores_.size()) continue;
      std::vector<std::optional<double>> areas;
      for (const auto& [group, metrics] :
           metrics_per_group(scores_, labels_, axis.values, definition_.max_fpr)) {
        areas.push_back(metrics.auc);
        if (metrics.auc) results_[key + "/" + group + "/auc"] = *metrics.auc;
      }
      if (const std::optional<double> mean = mean_of_defined(areas)) results_[key + "/auc"] = *mean;
    }
  }

  void add_task2() {
    if (axes_.size() != 3) return;
    const auto& machine = axes_.at("machine").values;
    const auto& section = axes_.at("section").values;
    const auto& domain = axes_.at("domain").values;
    if (machine.size() != scores_.size() || section.size() != scores_.size() ||
        domain.size() != scores_.size())
      return;
    task2_ = to_value(dcase_task2({scores_, labels_, machine, section, domain}, definition_.max_fpr));
    add_numbers("", task2_);
  }

  // Numbers of a tree by their paths; what is undefined is absent.
  void add_numbers(const std::string& place, const nexuml::Value& value) {
    if (value.is_number()) results_[place] = value.as_number();
    if (!value.is_map()) return;
    for (const auto& entry : value.entries())
      add_numbers(place.empty() ? entry.key : place + "/" + entry.key, entry.value);
  }

  const nexuml::EvalBuildContext context_;
  const AnomalyEvaluator definition_;
  const std::string label_key_;
  std::vector<double> scores_, labels_, decisions_;
  nexuml::OrderedMap<Axis> axes_;    // machine, section, domain
  nexuml::OrderedMap<Axis> groups_;  // by key
  nexuml::OrderedMap<double> results_;
  nexuml::Value task2_;
};

}  // namespace

void AnomalyEvaluator::describe(nexuml::Schema<AnomalyEvaluator>& s) {
  s.summary(
      "AUC, partial AUC, best F1 and DCASE metrics of anomaly scores. With one class only nothing but the "
      "mean and "
      "the deviation of the scores is given: the rest is undefined.");
  s.field("score_key", &AnomalyEvaluator::score_key).doc("The output that holds the scores.");
  s.field("decision_key", &AnomalyEvaluator::decision_key)
      .doc("The output that holds decisions; its F1 is f1_decision. Null for none.");
  s.field("group_keys", &AnomalyEvaluator::group_keys)
      .doc("Labels, features or metadata columns that split the rows into groups with an AUC each.");
  s.field("dcase_metric_axes", &AnomalyEvaluator::dcase_metric_axes)
      .doc("Which keys hold machine, section and domain; all three give the metrics of DCASE task 2.");
  s.field("max_fpr", &AnomalyEvaluator::max_fpr)
      .doc("False positive rate up to which the partial area reaches.")
      .greater_than(0)
      .at_most(1);
}

std::shared_ptr<nexuml::EvalAlgorithm> AnomalyEvaluator::build(
    const nexuml::EvalBuildContext& context) const {
  return std::make_shared<AnomalyEvaluatorRuntime>(context, *this);
}

}  // namespace nexuml_library
