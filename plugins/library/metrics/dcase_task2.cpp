#include "metrics/dcase_task2.h"

#include <nexuml/diagnostic.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "metrics/ranking.h"

namespace nexuml_library {

namespace {

constexpr double smallest_value = 1e-12;  // a harmonic mean knows no zero

enum class Domain { source, target, unknown };

Domain domain_of(const std::string& text) {
  std::string name;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array source{"source", "src", "0", "false"}, target{"target", "tgt", "1", "true"};
  if (std::ranges::find(source, name) != source.end()) return Domain::source;
  return std::ranges::find(target, name) != target.end() ? Domain::target : Domain::unknown;
}

// The rows of one group.
struct GroupRows {
  std::vector<double> source, target, other, anomalous;  // scores of normal rows by domain, and of anomalies
};

std::vector<TiedScores> ranking_of(std::initializer_list<const std::vector<double>*> normal,
                                   const std::vector<double>& anomalous) {
  std::vector<double> scores(anomalous);
  std::vector<std::uint8_t> labels(anomalous.size(), 1);
  for (const std::vector<double>* part : normal) scores.insert(scores.end(), part->begin(), part->end());
  labels.resize(scores.size(), 0);
  return ranked(scores, labels);
}

std::optional<double> clipped(std::optional<double> value) {
  if (value) value = std::clamp(*value, smallest_value, 1.0);
  return value;
}

class Task2Report {
 public:
  explicit Task2Report(double max_fpr) : max_fpr_(max_fpr) {}

  void add(const std::pair<std::string, std::string>& place, const GroupRows& rows) {
    const std::string key = "m" + place.first + "_s" + place.second;
    Task2Group group{.machine = place.first,
                     .section = place.second,
                     .source_normal = static_cast<std::int64_t>(rows.source.size()),
                     .target_normal = static_cast<std::int64_t>(rows.target.size()),
                     .anomalies = static_cast<std::int64_t>(rows.anomalous.size())};
    group.auc_source = domain_auc("auc_source", key, rows.source, rows.anomalous);
    group.auc_target = domain_auc("auc_target", key, rows.target, rows.anomalous);
    if (rows.source.empty() || rows.target.empty() || rows.anomalous.empty())
      skipped("pauc", key);
    else
      group.pauc = clipped(
          partial_auc(ranking_of({&rows.source, &rows.target, &rows.other}, rows.anomalous), max_fpr_));
    std::vector<double> defined;
    collect(group.auc_source, auc_source_, defined);
    collect(group.auc_target, auc_target_, defined);
    collect(group.pauc, pauc_, defined);
    group.hmean = harmonic(defined);
    all_.insert(all_.end(), defined.begin(), defined.end());
    metrics_.groups.append(key, group);
  }

  void warn(std::string message) { metrics_.warnings.push_back(std::move(message)); }

  Task2Metrics finish() && {
    if (all_.empty()) warn("no group has a defined metric: omega is undefined");
    metrics_.omega = harmonic(all_);
    metrics_.mean_auc_source = arithmetic(auc_source_);
    metrics_.mean_auc_target = arithmetic(auc_target_);
    metrics_.mean_pauc = arithmetic(pauc_);
    metrics_.hmean_auc_source = harmonic(auc_source_);
    metrics_.hmean_auc_target = harmonic(auc_target_);
    metrics_.hmean_pauc = harmonic(pauc_);
    return std::move(metrics_);
  }

 private:
  std::optional<double> domain_auc(const char* metric, const std::string& key,
                                   const std::vector<double>& normal, const std::vector<double>& anomalous) {
    if (normal.empty() || anomalous.empty()) {
      skipped(metric, key);
      return std::nullopt;
    }
    return clipped(roc_auc(ranking_of({&normal}, anomalous)));
  }
  void skipped(const char* metric, const std::string& key) {
    warn(std::string(metric) + " of " + key +
         " is undefined: normal rows of its domain or anomalies are missing");
  }
  static void collect(const std::optional<double>& value, std::vector<double>& column,
                      std::vector<double>& defined) {
    if (!value) return;
    column.push_back(*value);
    defined.push_back(*value);
  }
  static std::optional<double> harmonic(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    double inverse = 0;
    for (const double value : values) inverse += 1 / value;
    return static_cast<double>(values.size()) / inverse;
  }
  static std::optional<double> arithmetic(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  double max_fpr_;
  Task2Metrics metrics_;
  std::vector<double> auc_source_, auc_target_, pauc_, all_;
};

void require_equal_lengths(const Task2Columns& columns) {
  for (const auto& [name, size] :
       {std::pair{"labels", columns.labels.size()}, std::pair{"machines", columns.machine.size()},
        std::pair{"sections", columns.section.size()}, std::pair{"domains", columns.domain.size()}})
    if (size != columns.scores.size())
      throw nexuml::Error("E853", "there are " + std::to_string(columns.scores.size()) + " scores and " +
                                      std::to_string(size) + " " + name);
}

nexuml::Value value_of(const std::optional<double>& number) {
  return number ? nexuml::Value(*number) : nexuml::Value();
}

}  // namespace

Task2Metrics dcase_task2(const Task2Columns& columns, double max_fpr) {
  require_equal_lengths(columns);
  std::map<std::pair<std::string, std::string>, GroupRows> groups;
  bool resolved = false, binary = true;
  std::size_t valid = 0;
  for (std::size_t i = 0; i < columns.scores.size(); ++i) {
    const double score = columns.scores[i], label = columns.labels[i];
    if (!std::isfinite(score)) continue;
    ++valid;
    const Domain domain = domain_of(columns.domain[i]);
    resolved = resolved || domain != Domain::unknown;
    binary = binary && (label == 0 || label == 1);
    GroupRows& rows = groups[{columns.machine[i], columns.section[i]}];
    if (label == 1)
      rows.anomalous.push_back(score);
    else if (label == 0)
      (domain == Domain::source   ? rows.source
       : domain == Domain::target ? rows.target
                                  : rows.other)
          .push_back(score);
  }
  Task2Report report(max_fpr);
  if (valid == 0) report.warn("there is no row with a finite score");
  if (!binary) report.warn("some labels are neither 0 (normal) nor 1 (anomalous); their rows are left out");
  if (valid > 0 && !resolved) report.warn("no domain is called source or target, nor 0 or 1");
  for (const auto& [place, rows] : groups) report.add(place, rows);
  return std::move(report).finish();
}

nexuml::Value to_value(const Task2Metrics& metrics) {
  nexuml::Value groups = nexuml::Value::map();
  for (const auto& [key, group] : metrics.groups)
    groups.set(key, nexuml::Value::map({{"machine", group.machine},
                                        {"section", group.section},
                                        {"n_source_normal", group.source_normal},
                                        {"n_target_normal", group.target_normal},
                                        {"n_anomaly", group.anomalies},
                                        {"auc_source", value_of(group.auc_source)},
                                        {"auc_target", value_of(group.auc_target)},
                                        {"pauc", value_of(group.pauc)},
                                        {"hmean", value_of(group.hmean)}}));
  return nexuml::Value::map({{"per_machine", groups},
                             {"omega", value_of(metrics.omega)},
                             {"mean_auc_source", value_of(metrics.mean_auc_source)},
                             {"mean_auc_target", value_of(metrics.mean_auc_target)},
                             {"mean_pauc", value_of(metrics.mean_pauc)},
                             {"hmean_auc_source", value_of(metrics.hmean_auc_source)},
                             {"hmean_auc_target", value_of(metrics.hmean_auc_target)},
                             {"hmean_pauc", value_of(metrics.hmean_pauc)},
                             {"hmean_all", value_of(metrics.omega)},
                             {"warnings", nexuml::Value(metrics.warnings)}});
}

}  // namespace nexuml_library
