// Losses and weight schedules of the shipped library: numbers of Python's torch, and their recipes.
#include <ATen/ops/tensor.h>
#include <nexuml/recipe_build.h>
#include <nexuml/strategy_parts.h>

#include "plugins_library/shipped_registry.h"

using namespace library_tests;
using namespace nexuml;

namespace {

double loss(const std::string& name, const Value& arguments, const at::Tensor& prediction,
            const at::Tensor& target) {
  const Recipe recipe = create_model_spec_from_json(
      shipped_registry(), create_model_spec(shipped_registry(), name, arguments).to_json(), "loss.json");
  return (*build<TargetKind::loss>(recipe, shipped_registry()))(prediction, target).item<double>();
}

double weight(const std::string& name, const Value& arguments, std::int64_t step, std::int64_t epoch = 0) {
  const auto schedule = build<TargetKind::weight_schedule>(
      create_model_spec(shipped_registry(), name, arguments), shipped_registry());
  const auto* described = dynamic_cast<const DescribedSchedule*>(schedule.get());
  REQUIRE(described);
  const Recipe again =
      create_model_spec_from_json(shipped_registry(), described->to_spec(shipped_registry()));
  CHECK(again == create_model_spec(shipped_registry(), name, arguments));
  return schedule->weight(step, epoch);
}

}  // namespace

TEST_CASE("losses by their names in torch.nn give the numbers of Python's torch") {
  const at::Tensor a = at::tensor({0.5, -1.0, 2.0, 0.0}), b = at::tensor({0.0, 1.0, 2.5, -3.0});
  CHECK(loss("torch.nn.MSELoss", Value::map(), a, b) == Approx(3.375));
  CHECK(loss("torch.nn.L1Loss", Value::map({{"reduction", "sum"}}), a, b) == Approx(6.0));
  CHECK(loss("torch.nn.SmoothL1Loss", Value::map(), a, b) == Approx(1.0625));
  CHECK(loss("torch.nn.SmoothL1Loss", Value::map({{"beta", 0}}), a, b) == Approx(1.5));
  CHECK(loss("torch.nn.HuberLoss", Value::map({{"delta", 2}}), a, b) == Approx(1.5625));
  const at::Tensor logits = at::tensor({1.0, 2.0, 0.5, 0.0, -1.0, 3.0}).view({2, 3});
  const at::Tensor classes = at::tensor({1, 2}, at::kLong);
  CHECK(loss("torch.nn.CrossEntropyLoss", Value::map(), logits, classes) == Approx(0.26513).margin(2e-5));
  CHECK(loss("torch.nn.modules.loss.BCEWithLogitsLoss", Value::map(), at::tensor({0.0, 2.0}),
             at::tensor({0.0, 1.0})) == Approx(0.41004).margin(1e-5));
}

TEST_CASE("class weights are a tensor of the recipe") {
  const at::Tensor logits = at::tensor({1.0, 2.0, 0.5, 0.0, -1.0, 3.0}).view({2, 3});
  const at::Tensor classes = at::tensor({1, 2}, at::kLong);
  const Value weights =
      Value::map({{"dtype", "torch.float32"}, {"shape", Value::list({3})}, {"data", Value::list({1, 1, 0})}});
  // The second sample weighs nothing: what is left is the first one's loss.
  CHECK(loss("torch.nn.CrossEntropyLoss", Value::map({{"weight", weights}}), logits, classes) ==
        Approx(0.46437).margin(2e-5));
}

TEST_CASE("weight schedules clamp, count steps or epochs, scale, and give their recipes") {
  const std::string names = "nexuml.weight_schedules.";
  CHECK(weight(names + "ConstantWeight", Value::map({{"value", 0.5}, {"scale", 0.25}}), 9) == 0.125);
  const Value ramp = Value::map({{"start", 1}, {"end", 3}, {"num_steps", 4}});
  CHECK(weight(names + "LinearWeight", ramp, 0) == 1);
  CHECK(weight(names + "LinearWeight", ramp, 2) == 2);
  CHECK(weight(names + "LinearWeight", ramp, 40) == 3);
  CHECK(weight(names + "CosineWeight", ramp, 2) == Approx(2));
  CHECK(weight(names + "CosineWeight", ramp, 1) == Approx(1 + 2 * (1 - std::cos(std::acos(-1.0) / 4)) / 2));
  Value by_epoch = ramp;
  by_epoch.set("per_epoch", true);
  CHECK(weight(names + "LinearWeight", by_epoch, 100, 1) == 1.5);
  const Value pieces = Value::map({{"boundaries", Value::list({2, 5})}, {"values", Value::list({1, 2, 3})}});
  CHECK(weight(names + "PiecewiseWeight", pieces, 1) == 1);
  CHECK(weight(names + "PiecewiseWeight", pieces, 2) == 2);
  CHECK(weight(names + "PiecewiseWeight", pieces, 5) == 3);
  CHECK_THROWS_AS(
      create_model_spec(shipped_registry(), names + "PiecewiseWeight",
                        {{"boundaries", Value::list({5, 2})}, {"values", Value::list({1, 2, 3})}}),
      Error);
}
