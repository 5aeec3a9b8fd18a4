// What the shipped library refuses, by its code.
#include <nexuml/evaluation.h>
#include <nexuml/layer.h>

#include <limits>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

TEST_CASE("a decision rule refuses to be fitted on nothing and on scores that are no numbers") {
  const auto rule =
      shipped_registry()
          .make<nexuml::TargetKind::decision_rule>(
              "nexuml_library.evaluation.anomalous_sound_detection.decision:QuantileThresholdRule")
          ->build({});
  CHECK_THROWS_WITH(rule->fit(at::empty({0})), Contains("E852"));
  CHECK_THROWS_WITH(rule->fit(at::full({3}, std::numeric_limits<double>::quiet_NaN())), Contains("E852"));
}

TEST_CASE("a mask that does not fit the reconstruction is refused") {
  nexuml::LayerBuildContext context;
  context.layer = "Loss/00_ReconstructionLoss";
  context.keys_in = context.input_names = {"x", "y", "mask"};
  context.keys_out = {"loss"};
  context.storage = std::make_shared<nexuml::SharedStorage>();
  const auto layer =
      nexuml::AnyLayer(shipped_registry().layer("ReconstructionLoss", {{"use_mask_loss", true}}))
          ->build(context);
  nexuml::Batch batch;
  batch.x.set("x", at::zeros({2, 4, 3}));
  batch.x.set("y", at::zeros({2, 4, 3}));
  batch.x.set("mask", at::ones({2, 5}));
  CHECK_THROWS_WITH(layer->forward(batch), Contains("E828") && Contains("[2, 5]"));
}

TEST_CASE("an evaluation that cannot write its files says which") {
  nexuml::EvalBuildContext context{.name = "plot"};
  context.feature_key = "in";
  const auto plot =
      nexuml::AnyEvalAlgorithm(shipped_registry().definition(
                                   {nexuml::ComponentKind::eval_algorithm, "reconstruction_visualizer", "1"},
                                   Value::map({{"reconstructed_key", "out"}})))
          ->build(context);
  const nexuml::TensorDict x{{"in", at::zeros({1, 4})}, {"out", at::zeros({1, 4})}};
  plot->eval_batch({.x = x, .size = 1});
  plot->eval_end();
  CHECK_THROWS_WITH(plot->write_artifacts("/dev/null/folder"), Contains("E855"));
}

TEST_CASE("labels that are no class numbers of the logits are refused with their key") {
  nexuml::LayerBuildContext context;
  context.layer = "Loss/00_ClassificationLoss";
  context.keys_in = context.input_names = {"logits"};
  context.keys_out = {"loss"};
  context.label_keys = {"species"};
  context.storage = std::make_shared<nexuml::SharedStorage>();
  const auto layer =
      nexuml::AnyLayer(shipped_registry().layer("ClassificationLoss", {}))->build(context);
  const auto outcome = [&](const at::Tensor& labels) -> std::string {
    nexuml::Batch batch;
    batch.x.set("logits", at::zeros({2, 3}));
    batch.y = nexuml::TensorDict{{"species", labels}};
    try {
      layer->forward(batch);
    } catch (const nexuml::Error& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(outcome(at::tensor({0, 2}, at::kLong)) == "accepted");
  CHECK(outcome(at::tensor({0.0, 2.0})) == "accepted");
  CHECK_THAT(outcome(at::tensor({0, 3}, at::kLong)),
             Contains("E828") && Contains("'species' holds 3") && Contains("0 to 2"));
  CHECK_THAT(outcome(at::tensor({-1, 0}, at::kLong)), Contains("holds -1"));
  CHECK_THAT(outcome(at::tensor({0.5, 1.0})), Contains("fractions"));
  CHECK_THAT(outcome(at::eye(3).narrow(0, 0, 2)), Contains("[2, 3]") && Contains("bce"));
}
