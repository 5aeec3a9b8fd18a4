#include "metrics/dcase_task1_task7.h"

#include <nexuml/diagnostic.h>

#include <map>
#include <set>

namespace nexuml_library {

namespace {

void require_rows(std::size_t expected, std::size_t found) {
  if (expected != found)
    throw nexuml::Error(
        "E853", "columns differ in length: " + std::to_string(expected) + " and " + std::to_string(found));
  if (expected == 0) throw nexuml::Error("E853", "there is no row to measure");
}

struct ClassTally {
  double hits = 0, truth = 0, predicted = 0;
};

// Of the classes that occur in the truth.
std::map<std::int64_t, ClassTally> tally(std::span<const std::int64_t> truth,
                                         std::span<const std::int64_t> predicted) {
  std::map<std::int64_t, ClassTally> classes;
  for (const std::int64_t label : truth) ++classes[label].truth;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == predicted[i]) ++classes[truth[i]].hits;
    if (const auto found = classes.find(predicted[i]); found != classes.end()) ++found->second.predicted;
  }
  return classes;
}

}  // namespace

Task1Metrics dcase_task1(const Task1Labels& truth, const Task1Labels& predicted,
                         std::optional<std::int64_t> top_classes) {
  for (const auto& column : {truth.second, predicted.top, predicted.second})
    require_rows(truth.top.size(), column.size());
  Task1Metrics metrics;
  double hits = 0;
  for (std::size_t i = 0; i < truth.top.size(); ++i) hits += truth.top[i] == predicted.top[i];
  metrics.top_level_accuracy = hits / static_cast<double>(truth.top.size());
  const auto classes = tally(truth.second, predicted.second);
  for (const auto& [label, counts] : classes) {
    metrics.precision += counts.predicted > 0 ? counts.hits / counts.predicted : 0;
    metrics.recall += counts.hits / counts.truth;
    metrics.fscore += 2 * counts.hits / (counts.truth + counts.predicted);
  }
  const auto count = static_cast<double>(classes.size());
  metrics.precision /= count;
  metrics.recall /= count;
  metrics.fscore /= count;
  metrics.second_classes = static_cast<std::int64_t>(classes.size());
  metrics.top_classes = top_classes.value_or(
      static_cast<std::int64_t>(std::set<std::int64_t>(truth.top.begin(), truth.top.end()).size()));
  return metrics;
}

double balanced_accuracy(std::span<const std::int64_t> truth, std::span<const std::int64_t> predicted) {
  require_rows(truth.size(), predicted.size());
  const auto classes = tally(truth, predicted);
  double sum = 0;
  for (const auto& [label, counts] : classes) sum += counts.hits / counts.truth;
  return sum / static_cast<double>(classes.size());
}

nexuml::OrderedMap<double> dcase_task7(std::span<const std::int64_t> truth,
                                       std::span<const std::int64_t> predicted,
                                       std::span<const std::string> domains) {
  require_rows(truth.size(), predicted.size());
  require_rows(truth.size(), domains.size());
  std::map<std::string, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> columns;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    columns[domains[i]].first.push_back(truth[i]);
    columns[domains[i]].second.push_back(predicted[i]);
  }
  nexuml::OrderedMap<double> result;
  double sum = 0;
  for (const auto& [domain, column] : columns) {
    const double accuracy = balanced_accuracy(column.first, column.second);
    result["domain_" + domain + "_balanced_accuracy"] = accuracy;
    sum += accuracy;
  }
  result["final_averaged_score"] = sum / static_cast<double>(columns.size());
  return result;
}

nexuml::OrderedMap<std::vector<double>> dcase_task7_table(std::span<const nexuml::OrderedMap<double>> steps) {
  nexuml::OrderedMap<std::vector<double>> table;
  for (const auto& step : steps)
    for (const auto& [key, value] : step) table[key].push_back(value);
  return table;
}

}  // namespace nexuml_library
