#include <nexuml/value.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "metrics/anomaly_metrics.h"
#include "metrics/class_counts.h"
#include "metrics/dcase_task1_task7.h"
#include "metrics/dcase_task2.h"
#include "metrics/ranking.h"

using namespace nexuml_library;

namespace {

const std::string cases = std::string(NEXUML_TEST_DATA) + "/cases/";

nexuml::Value json(const std::string& path) {
  nexuml::Diagnostics problems;
  nexuml::Value value = nexuml::parse_json(nexuml::read_text_file(path, problems), path, problems);
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

// Columns of a CSV file with a header.
std::map<std::string, std::vector<std::string>> csv(const std::string& path) {
  std::ifstream file(path);
  std::string line, cell;
  std::map<std::string, std::vector<std::string>> columns;
  std::vector<std::string> names;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    for (std::size_t i = 0; std::getline(row, cell, ','); ++i) {
      if (names.size() <= i && columns.size() <= i)
        names.push_back(cell), columns[cell];
      else
        columns[names[i]].push_back(cell);
    }
  }
  return columns;
}

std::vector<double> numbers(const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) values.push_back(std::stod(text));
  return values;
}

std::vector<double> numbers(const nexuml::Value& list) {
  std::vector<double> values;
  for (const nexuml::Value& item : list.items()) values.push_back(item.as_number());
  return values;
}

std::vector<TiedScores> ranking(const std::vector<double>& scores, const std::vector<double>& labels) {
  return ranked(scores, std::vector<std::uint8_t>(labels.begin(), labels.end()));
}

// Of every pair of one positive and one negative score.
double auc_by_pairs(const std::vector<double>& scores, const std::vector<double>& labels) {
  double wins = 0, pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t j = 0; j < scores.size(); ++j)
      if (labels[i] == 1 && labels[j] == 0) {
        ++pairs;
        wins += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
  return wins / pairs;
}

}  // namespace

TEST_CASE("an area with one class only is undefined and left out of the mean over groups") {
  auto columns = csv(cases + "E01-auc-one-class/scores.csv");
  const nexuml::Value expected = json(cases + "E01-auc-one-class/expected.json");
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < columns.begin()->second.size(); ++i)
    groups.push_back(columns.count("group") ? columns["group"][i]
                                            : columns["machine"][i] + "/" + columns["section"][i]);
  const std::vector<double> scores = numbers(columns["score"]), labels = numbers(columns["label"]);
  std::vector<std::optional<double>> areas;
  for (const auto& [group, metrics] : metrics_per_group(scores, labels, groups, 0.1)) {
    INFO(group);
    const nexuml::Value& area = expected.at(group);
    CHECK(metrics.auc.has_value() == !area.is_null());
    if (metrics.auc && area.is_number()) CHECK(*metrics.auc == Approx(area.as_number()));
    areas.push_back(metrics.auc);
  }
  CHECK(*roc_auc(ranking(scores, labels)) == Approx(expected.at("overall").as_number()));
  CHECK(*mean_of_defined(areas) == Approx(expected.at("group_mean").as_number()));
}

TEST_CASE("tied scores count half in the area, whatever their order") {
  auto columns = csv(cases + "E03-auc-ties-and-order/ties.csv");
  const nexuml::Value expected = json(cases + "E03-auc-ties-and-order/expected.json").at("ties.csv");
  const auto ranks = ranking(numbers(columns["score"]), numbers(columns["label"]));
  CHECK(*roc_auc(ranks) == Approx(expected.at("roc_auc").as_number()).margin(1e-9));
  CHECK(*average_precision(ranks) == Approx(expected.at("average_precision").as_number()).margin(1e-9));
  CHECK(best_f1(ranks) == Approx(expected.at("f1_optimal").as_number()).margin(1e-9));
}

TEST_CASE("scores are compared in double precision, from the smallest to the largest") {
  const nexuml::Value rows = json(cases + "E03-auc-ties-and-order/small.json");
  for (const nexuml::Value& small : rows.items()) {
    INFO(nexuml::write_json(small));
    CHECK(*roc_auc(ranking(numbers(small.at("score")), numbers(small.at("label")))) ==
          Approx(small.at("roc_auc").as_number()).margin(1e-9));
  }
}

TEST_CASE("F1 has a defined answer where nothing is positive") {
  const nexuml::Value rows = json(cases + "E05-f1-zero-division/binary.json");
  for (const nexuml::Value& row : rows.items()) {
    INFO(nexuml::write_json(row));
    ClassCounts counts(2);
    const std::vector<double> truth = numbers(row.at("true")), predicted = numbers(row.at("pred"));
    for (std::size_t i = 0; i < truth.size(); ++i)
      counts.add(static_cast<std::int64_t>(truth[i]), static_cast<std::int64_t>(predicted[i]));
    CHECK(counts.f1_of(1).has_value() == row.at("defined").as_boolean());
    CHECK(counts.f1_of(1).value_or(0) == Approx(row.at("f1").as_number()));
  }
}

TEST_CASE("macro F1 runs over the classes that occur, or over all of them") {
  const nexuml::Value rows = json(cases + "E05-f1-zero-division/cases.json");
  for (const nexuml::Value& row : rows.items()) {
    INFO(nexuml::write_json(row));
    ClassCounts counts(static_cast<std::size_t>(row.at("K").as_integer()));
    const std::vector<double> truth = numbers(row.at("true")), predicted = numbers(row.at("pred"));
    for (std::size_t i = 0; i < truth.size(); ++i)
      counts.add(static_cast<std::int64_t>(truth[i]), static_cast<std::int64_t>(predicted[i]));
    CHECK(*counts.f1(Average::macro) == Approx(row.at("f1_macro_present").as_number()));
    CHECK(*counts.f1(Average::macro, AveragedClasses::all) == Approx(row.at("f1_macro_all_K").as_number()));
    CHECK(*counts.f1(Average::micro) == Approx(row.at("f1_micro").as_number()));
    CHECK(*counts.recall(Average::micro) == Approx(row.at("accuracy").as_number()));
  }
}

TEST_CASE("the area under the curve equals the share of pairs in the right order") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> scores(2 + random() % 60), labels(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = static_cast<double>(random() % 12);
      labels[i] = i == 0 ? 1 : i == 1 ? 0 : static_cast<double>(random() % 2);
    }
    CHECK(*roc_auc(ranking(scores, labels)) == Approx(auc_by_pairs(scores, labels)));
    CHECK(*partial_auc(ranking(scores, labels), 1.0) == Approx(auc_by_pairs(scores, labels)));
  }
}

TEST_CASE("average precision over batches equals that over everything at once") {
  std::mt19937 random(11);
  AveragePrecisionStream stream;
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<double> some(random() % 9);
    std::vector<std::uint8_t> truth(some.size());
    for (std::size_t i = 0; i < some.size(); ++i)
      some[i] = static_cast<double>(random() % 30), truth[i] = random() % 3 == 0;
    stream.add(some, truth);
    scores.insert(scores.end(), some.begin(), some.end());
    labels.insert(labels.end(), truth.begin(), truth.end());
    CHECK(stream.value() == average_precision(ranked(scores, labels)));
  }
}

TEST_CASE("a score that is not a number is refused, lengths have to agree") {
  const std::vector<double> scores{1.0, std::numeric_limits<double>::quiet_NaN()};
  const std::vector<std::uint8_t> labels{0, 1}, short_labels{0};
  CHECK_THROWS_WITH(ranked(scores, labels), Catch::Contains("E853"));
  CHECK_THROWS_AS(ranked(scores, short_labels), nexuml::Error);
}

TEST_CASE("the harmonic mean leaves out what is not positive and finite") {
  const std::vector<double> values{0.5, 0.0, -1.0, std::nan(""), INFINITY, 0.25}, none{0.0};
  CHECK(*harmonic_mean(values) == Approx(1.0 / 3.0));
  CHECK_FALSE(harmonic_mean(none).has_value());
}

TEST_CASE("a section without anomalies has no area and is told in the warnings") {
  const std::vector<double> scores{0.1, 0.9, 0.2, 0.3}, labels{0, 1, 0, 0};
  const std::vector<std::string> machine{"fan", "fan", "fan", "fan"}, section{"00", "00", "00", "01"},
      domain{"Source", "target", "TGT", "source"};
  const Task2Metrics metrics = dcase_task2({scores, labels, machine, section, domain}, 0.1);
  REQUIRE(metrics.groups.size() == 2);
  CHECK(metrics.groups.at("mfan_s00").auc_source == 1.0);
  CHECK(metrics.groups.at("mfan_s00").auc_target == 1.0);
  CHECK_FALSE(metrics.groups.at("mfan_s01").auc_source.has_value());
  CHECK_FALSE(metrics.groups.at("mfan_s01").hmean.has_value());
  CHECK(metrics.omega == 1.0);
  CHECK(metrics.warnings.size() == 3);
}

TEST_CASE("a million scores are ranked in well under a second") {
  std::mt19937 random(3);
  std::vector<double> scores(1'000'000);
  std::vector<std::uint8_t> labels(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = random() / 4294967296.0, labels[i] = random() % 2;
  const auto ranks = ranked(scores, labels);
  CHECK(*roc_auc(ranks) == Approx(0.5).margin(0.01));
  CHECK(*average_precision(ranks) == Approx(0.5).margin(0.01));
}
