// The metrics against scikit-learn, scipy and torchmetrics; scripts/metric_reference.py wrote the numbers.
#include <ATen/core/grad_mode.h>
#include <nexuml/layer.h>
#include <torch/types.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "metrics/anomaly_metrics.h"
#include "metrics/class_counts.h"
#include "metrics/dcase_task1_task7.h"
#include "metrics/dcase_task2.h"
#include "metrics/ranking.h"
#include "plugins_library/shipped_registry.h"

using namespace nexuml_library;
using nexuml::Value;

namespace {

std::vector<Value> reference_cases(const std::string& kind) {
  const std::string path = std::string(NEXUML_TEST_DATA) + "/metrics/reference.json";
  nexuml::Diagnostics problems;
  const Value all = nexuml::parse_json(nexuml::read_text_file(path, problems), path, problems);
  REQUIRE_FALSE(problems.has_errors());
  std::vector<Value> found;
  for (const Value& one : all.items())
    if (one.at("kind").as_string() == kind) found.push_back(one);
  REQUIRE_FALSE(found.empty());
  return found;
}

template <class Number>
std::vector<Number> column_of(const Value& one, const char* key) {
  std::vector<Number> values;
  for (const Value& item : one.at(key).items()) values.push_back(static_cast<Number>(item.as_number()));
  return values;
}

std::vector<std::string> names_of(const Value& one, const char* key) {
  std::vector<std::string> values;
  for (const Value& item : one.at(key).items()) values.push_back(item.as_string());
  return values;
}

void check_value(const std::string& what, const std::optional<double>& found, const Value& expected) {
  INFO(what);
  REQUIRE(found.has_value() == expected.is_number());
  if (found) CHECK(*found == Approx(expected.as_number()).epsilon(1e-9).margin(1e-12));
}

at::Tensor table_of(const Value& one, const char* key) {
  std::vector<at::Tensor> rows;
  for (const Value& row : one.at(key).items()) {
    std::vector<double> numbers;
    for (const Value& item : row.items()) numbers.push_back(item.as_number());
    rows.push_back(torch::tensor(numbers, at::kDouble));
  }
  return at::stack(rows);
}

// The epoch values of ClassificationMetrics over batches of `batch_size`.
nexuml::OrderedMap<double> streamed(const Value& one, const at::Tensor& logits, const at::Tensor& labels,
                                    std::int64_t batch_size) {
  const nexuml::AnyLayer definition = library_tests::shipped_registry().definition(
      {nexuml::ComponentKind::layer, "ClassificationMetrics"}, one.at("params"));
  nexuml::LayerBuildContext context;
  context.layer = "metrics";
  context.keys_in = context.input_names = {"logits"};
  context.inputs["logits"] = {.shape = {logits.size(1)}};
  context.keys_out = names_of(one.at("params"), "metrics");
  context.label_keys = {"classes"};
  context.targets = &library_tests::shipped_registry();
  context.storage = std::make_shared<nexuml::SharedStorage>();
  const auto layer = definition->build(context);
  layer->eval();
  const at::NoGradGuard no_grad;
  layer->call(nexuml::Hook::test_start);
  layer->call(nexuml::Hook::test_epoch_start);
  for (std::int64_t first = 0; first < logits.size(0); first += batch_size) {
    const std::int64_t rows = std::min(batch_size, logits.size(0) - first);
    nexuml::Batch batch{.x = nexuml::TensorDict{{"logits", logits.narrow(0, first, rows)}},
                        .y = nexuml::TensorDict{{"classes", labels.narrow(0, first, rows)}}};
    layer->forward(batch);
  }
  return layer->epoch_metrics(nexuml::Mode::testing);
}

}  // namespace

TEST_CASE("rankings have scikit-learn's areas, average precision and best F1") {
  for (const Value& one : reference_cases("ranking")) {
    const auto scores = column_of<double>(one, "scores");
    const auto labels = column_of<std::uint8_t>(one, "labels");
    const auto ranking = ranked(scores, labels);
    INFO(scores.size() << " rows");
    check_value("auc", roc_auc(ranking), one.at("auc"));
    for (const auto& entry : one.at("partial_auc").entries())
      check_value("partial auc " + entry.key, partial_auc(ranking, std::stod(entry.key)), entry.value);
    check_value("average precision", average_precision(ranking), one.at("average_precision"));
    check_value("best F1", best_f1(ranking), one.at("best_f1"));
    const auto all = anomaly_metrics(scores, column_of<double>(one, "labels"), 0.1);
    check_value("mean", all.at("score_mean"), one.at("mean"));
    CHECK(all.contains("auc") == one.at("auc").is_number());
    if (scores.size() > 1) check_value("deviation", all.at("score_std"), one.at("std"));
  }
}

TEST_CASE("class counts have scikit-learn's averages and confusion matrix") {
  for (const Value& one : reference_cases("classes")) {
    const auto truth = column_of<std::int64_t>(one, "truth"),
               predicted = column_of<std::int64_t>(one, "predicted");
    ClassCounts counts(static_cast<std::size_t>(one.at("classes").as_integer()));
    for (std::size_t i = 0; i < truth.size(); ++i) counts.add(truth[i], predicted[i]);
    INFO(truth.size() << " rows, " << counts.classes() << " classes");
    const std::pair<const char*, Average> averages[] = {
        {"micro", Average::micro}, {"macro", Average::macro}, {"weighted", Average::weighted}};
    for (const auto& [name, average] : averages) {
      check_value(std::string("precision ") + name, counts.precision(average), one.at("precision").at(name));
      check_value(std::string("recall ") + name, counts.recall(average), one.at("recall").at(name));
      check_value(std::string("f1 ") + name, counts.f1(average), one.at("f1").at(name));
    }
    const auto every = AveragedClasses::all;
    check_value("precision of all", counts.precision(Average::macro, every),
                one.at("precision").at("macro_all"));
    check_value("recall of all", counts.recall(Average::macro, every), one.at("recall").at("macro_all"));
    check_value("f1 of all", counts.f1(Average::macro, every), one.at("f1").at("macro_all"));
    check_value("accuracy", counts.recall(Average::micro), one.at("accuracy"));
    check_value("balanced accuracy", balanced_accuracy(truth, predicted), one.at("balanced_accuracy"));
    const ConfusionMatrix matrix = confusion_matrix(truth, predicted);
    CHECK(matrix.labels == column_of<std::int64_t>(one, "confusion_labels"));
    for (std::size_t row = 0; row < matrix.counts.size(); ++row)
      for (std::size_t col = 0; col < matrix.counts.size(); ++col)
        CHECK(matrix.counts[row][col] == one.at("confusion").items()[row].items()[col].as_integer());
  }
}

TEST_CASE("ClassificationMetrics has torchmetrics' values, however the rows fall into batches") {
  for (const Value& one : reference_cases("layer")) {
    INFO(nexuml::write_json(one.at("params"), {.indent = -1}));
    const at::Tensor logits = table_of(one, "logits").to(at::kFloat);
    const at::Tensor labels = one.at("params").find("multi_label")
                                  ? table_of(one, "labels").to(at::kFloat)
                                  : torch::tensor(column_of<std::int64_t>(one, "labels"), at::kLong);
    for (const std::int64_t batch_size : {1, 7, 1000}) {
      const auto found = streamed(one, logits, labels, batch_size);
      for (const auto& entry : one.at("expected").entries()) {
        INFO(entry.key << " with batches of " << batch_size);
        CHECK(found.at(entry.key) == Approx(entry.value.as_number()).epsilon(1e-5).margin(1e-6));
      }
    }
  }
}

TEST_CASE("the metrics of DCASE task 2 are those that scikit-learn's areas and scipy's means give") {
  for (const Value& one : reference_cases("task2")) {
    const auto scores = column_of<double>(one, "scores"), labels = column_of<double>(one, "labels");
    const auto machine = names_of(one, "machine"), section = names_of(one, "section"),
               domain = names_of(one, "domain");
    const Task2Metrics found =
        dcase_task2({scores, labels, machine, section, domain}, one.at("max_fpr").as_number());
    CHECK(found.warnings.empty());
    REQUIRE(found.groups.size() == one.at("groups").size());
    for (const auto& entry : one.at("groups").entries()) {
      INFO(entry.key);
      const Task2Group& group = found.groups.at(entry.key);
      check_value("auc_source", group.auc_source, entry.value.at("auc_source"));
      check_value("auc_target", group.auc_target, entry.value.at("auc_target"));
      check_value("pauc", group.pauc, entry.value.at("pauc"));
      check_value("hmean", group.hmean, entry.value.at("hmean"));
    }
    check_value("omega", found.omega, one.at("omega"));
    check_value("mean_auc_source", found.mean_auc_source, one.at("mean").at("auc_source"));
    check_value("mean_auc_target", found.mean_auc_target, one.at("mean").at("auc_target"));
    check_value("mean_pauc", found.mean_pauc, one.at("mean").at("pauc"));
    check_value("hmean_auc_source", found.hmean_auc_source, one.at("hmean").at("auc_source"));
    check_value("hmean_auc_target", found.hmean_auc_target, one.at("hmean").at("auc_target"));
    check_value("hmean_pauc", found.hmean_pauc, one.at("hmean").at("pauc"));
  }
}

TEST_CASE("the metrics of DCASE tasks 1 and 7 are scikit-learn's") {
  for (const Value& one : reference_cases("task1")) {
    const auto top = column_of<std::int64_t>(one, "true_top"),
               second = column_of<std::int64_t>(one, "true_second"),
               guessed_top = column_of<std::int64_t>(one, "predicted_top"),
               guessed = column_of<std::int64_t>(one, "predicted_second");
    const Task1Metrics found = dcase_task1({top, second}, {guessed_top, guessed});
    check_value("top_level_accuracy", found.top_level_accuracy, one.at("top_level_accuracy"));
    check_value("precision", found.precision, one.at("precision"));
    check_value("recall", found.recall, one.at("recall"));
    check_value("fscore", found.fscore, one.at("fscore"));
  }
  for (const Value& one : reference_cases("task7")) {
    const auto found = dcase_task7(column_of<std::int64_t>(one, "truth"),
                                   column_of<std::int64_t>(one, "predicted"), names_of(one, "domains"));
    for (const auto& entry : one.at("balanced_accuracy").entries())
      check_value(entry.key, found.at("domain_" + entry.key + "_balanced_accuracy"), entry.value);
    check_value("average", found.at("final_averaged_score"), one.at("average"));
  }
}

TEST_CASE("harmonic means are scipy's over the positive values") {
  for (const Value& one : reference_cases("harmonic_mean"))
    check_value("harmonic mean", harmonic_mean(column_of<double>(one, "values")), one.at("expected"));
}
