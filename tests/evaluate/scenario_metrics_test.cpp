#include "evaluate/scenario_metrics.h"

#include <ATen/ops/tensor.h>

#include <catch2/catch.hpp>
#include <cmath>

namespace nexuml {
namespace {

at::Tensor column(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat);
}

// Numbers in the order of scikit-learn 1.6: mean_squared_error, r2_score, roc_auc_score.
double area_of(const std::vector<double>& scores, const std::vector<double>& labels, double max_fpr) {
  ScoreRanking ranking;
  ranking.add(column(scores), column(labels));
  return ranking.area(max_fpr).value_or(std::nan(""));
}

}  // namespace

TEST_CASE("errors of numbers do not depend on how rows fall into batches") {
  const at::Tensor truth = column({1, 2, 3, 4, 5, 7, 1, 0}).reshape({4, 2});
  const at::Tensor guess = column({1.5, 2, 2, 4, 6, 5, 1, 1}).reshape({4, 2});
  NumberErrors whole, parts;
  whole.add(guess, truth);
  parts.add(guess.narrow(0, 0, 3), truth.narrow(0, 0, 3));
  parts.add(guess.narrow(0, 3, 1), truth.narrow(0, 3, 1));
  CHECK(*whole.mse() == Approx(7.25 / 8));
  CHECK(*whole.mae() == Approx(5.5 / 8));
  // outputs: 1 - 2.25 / 11 and 1 - 5 / 26.75
  CHECK(*whole.r2() == Approx((1 - 2.25 / 11 + 1 - 5 / 26.75) / 2));
  CHECK(*parts.r2() == Approx(*whole.r2()));
  NumberErrors constant;
  constant.add(column({1, 2}), column({3, 3}));
  CHECK_FALSE(constant.r2());
}

TEST_CASE("accuracy and F1 of classes and of several labels") {
  ClassErrors classes;
  classes.add(at::tensor({2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 5.0, 1.0, 0.0}).reshape({3, 3}),
              at::tensor(std::vector<std::int64_t>{0, 1, 2}, at::kLong));
  CHECK(*classes.accuracy() == Approx(2.0 / 3));
  CHECK(*classes.f1() == Approx((2.0 / 3 + 1 + 0) / 3));
  ClassErrors labels;
  labels.add(column({1, -1, 1, 1}).reshape({2, 2}), column({1, 0, 0, 1}).reshape({2, 2}));
  CHECK(*labels.accuracy() == Approx(0.75));
  CHECK(*labels.f1() == Approx((2.0 / 3 + 1) / 2));
}

TEST_CASE("the area under the ROC curve counts ties half and is undefined with one class") {
  CHECK(area_of({0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}, 1) == Approx(0.75));
  CHECK(area_of({1, 1, 1, 1}, {0, 1, 0, 1}, 1) == Approx(0.5));
  CHECK(area_of({0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}, 0.5) == Approx(2.0 / 3));
  CHECK(area_of({1, 2, 3, 4}, {0, 0, 1, 1}, 0.1) == Approx(1.0));
  CHECK(std::isnan(area_of({1, 2}, {1, 1}, 1)));
  CHECK(area_of({1, 2, 9}, {0, 1, -1}, 1) == Approx(1.0));  // a label that is not published
}

TEST_CASE("what is compared follows from the losses of the pipeline") {
  ScenarioSpec scenario;
  scenario.evaluation.metrics = {"mse", "accuracy", "pauc_10"};
  scenario.training.loss_keys = {{"loss", 1.0}};
  LayerSpec loss;
  loss.keys_in = Keys{"features", "reconstructed"};
  loss.keys_out = {"loss"};
  scenario.pipeline.stages["Loss"] = {loss};
  ScenarioMetrics metrics(scenario);
  const TensorDict x{{"features", column({1, 2}).reshape({2, 1})},
                     {"reconstructed", column({1, 4}).reshape({2, 1})}};
  metrics.add({.x = x, .y = nullptr, .metadata = {}, .size = 2});
  CHECK(metrics.results() == OrderedMap<double>{{"mse", 2.0}});

  scenario.evaluation.metrics = {"acuracy"};
  CHECK_THROWS_WITH(ScenarioMetrics(scenario), Catch::Contains("acuracy") && Catch::Contains("accuracy"));
}

}  // namespace nexuml
