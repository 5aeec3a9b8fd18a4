// The module targets: what is inferred is what is computed, under Python's names.
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <nexuml/model_recipe.h>
#include <nexuml/module.h>
#include <nexuml/nn_module.h>
#include <nexuml/recipe_build.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "plugins_library/shipped_registry.h"
#include "plugins_torch/module_trials.h"

using namespace nexuml;
using library_tests::shipped_registry;
using torch_tests::all_targets;
using torch_tests::Random;
using torch_tests::Target;
using torch_tests::Trial;

namespace {

constexpr std::int64_t kBatch = 2;
constexpr int kTrials = 40;

std::shared_ptr<const TargetModelOf<TargetKind::module>> made(const std::string& name,
                                                              const Value& args = Value::list(),
                                                              const Value& kwargs = Value::map()) {
  return shipped_registry().make<TargetKind::module>(name, args, kwargs);
}

at::Tensor input_of(const Trial& trial) {
  std::vector<std::int64_t> shape{kBatch};
  shape.insert(shape.end(), trial.shape.begin(), trial.shape.end());
  return trial.dtype == DType::int64 ? at::randint(0, 2, shape, at::kLong) : at::randn(shape);
}

std::string text(const Target& target, const Trial& trial) {
  return target.name + write_json(trial.args, {.indent = -1}) + write_json(trial.kwargs, {.indent = -1}) +
         " on " + to_string(trial.shape);
}

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> state_names(const TargetModelOf<TargetKind::module>& target) {
  const auto module = target.build({})->module();
  std::vector<std::string> names;
  for (const auto& parameter : module->named_parameters()) names.push_back(parameter.key());
  for (const auto& buffer : module->named_buffers()) names.push_back(buffer.key());
  std::ranges::sort(names);
  return names;
}

// The shape that `forward` gives, without the batch; nothing where it fails.
std::optional<Shape> computed(const TargetModelOf<TargetKind::module>& target, const Trial& trial,
                              bool training) {
  const auto module = target.build({});
  module->module()->train(training);
  try {
    const at::Tensor output = module->forward(input_of(trial));
    REQUIRE(output.size(0) == kBatch);
    return Shape(output.sizes().begin() + 1, output.sizes().end());
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

// One size unknown: what is inferred then has to agree wherever it is known.
void check_unknown_sizes(const TargetModelOf<TargetKind::module>& target, const Trial& trial,
                         const Shape& whole) {
  for (std::size_t i = 0; i < trial.shape.size(); ++i) {
    TensorSpec input{trial.shape, trial.dtype};
    input.shape[i] = unknown_size;
    const Shape partial = target.infer(input)->shape;
    REQUIRE(partial.size() == whole.size());
    for (std::size_t j = 0; j < whole.size(); ++j)
      CHECK((partial[j] == unknown_size || partial[j] == whole[j]));
  }
}

}  // namespace

TEST_CASE("a module target infers the shape that it computes, and refuses what it cannot compute") {
  for (const Target& target : all_targets()) {
    Random random(20240607);
    int accepted = 0;
    for (int i = 0; i < kTrials; ++i) {
      const Trial trial = target.trial(random);
      INFO(text(target, trial));
      const auto model = made(target.name, trial.args, trial.kwargs);
      std::optional<TensorSpec> inferred;
      const std::string refusal = failure_of([&] { inferred = model->infer({trial.shape, trial.dtype}); });
      const std::optional<Shape> found = computed(*model, trial, i % 2 == 0);
      INFO("inferred " << (inferred ? to_string(*inferred) : refusal) << ", computed "
                       << (found ? to_string(*found) : "nothing"));
      CHECK(inferred.has_value() == found.has_value());
      if (!inferred || !found) continue;
      ++accepted;
      CHECK(inferred->shape == *found);
      check_unknown_sizes(*model, trial, *found);
    }
    INFO(target.name);
    CHECK(accepted > kTrials / 4);
  }
}

TEST_CASE("every registered module of torch.nn takes part in the trials") {
  std::set<std::string> tried{"torch.nn:Sequential"};  // its shapes are those of its parts: it infers none
  for (const Target& target : all_targets()) tried.insert(target.name);
  for (const auto* row : shipped_registry().targets())
    if (row->entry.node->kind == TargetKind::module && row->entry.node->path.starts_with("torch.nn:"))
      CHECK_THAT(row->entry.node->path,
                 Catch::Matchers::Predicate<std::string>(
                     [&](const std::string& path) { return tried.contains(path); }, "is tried"));
}

TEST_CASE("a module target has three spellings") {
  for (const Target& target : all_targets()) {
    const std::string name = target.name.substr(target.name.find(':') + 1);
    const auto* entry = shipped_registry().find_target(target.name);
    REQUIRE(entry);
    CHECK(shipped_registry().find_target("torch.nn." + name) == entry);
    CHECK(shipped_registry().find_target(target.python_module + ":" + name) == entry);
    CHECK(shipped_registry().find_target(target.python_module + "." + name) == entry);
  }
}

TEST_CASE("parameters and buffers are named as in Python's state dict") {
  for (const Target& target : all_targets()) {
    if (target.state.empty()) continue;
    std::vector<std::string> expected = target.state;
    std::ranges::sort(expected);
    INFO(target.name);
    CHECK(state_names(*made(target.name, target.state_args)) == expected);
  }
  CHECK(state_names(*made("torch.nn:Linear", Value::List{3, 2, false})) ==
        std::vector<std::string>{"weight"});
  CHECK(state_names(*made("torch.nn:BatchNorm2d", Value::List{3}, Value::map({{"affine", false}}))) ==
        std::vector<std::string>{"num_batches_tracked", "running_mean", "running_var"});
  CHECK(state_names(*made("torch.nn:LayerNorm", Value::List{3}, Value::map({{"bias", false}}))) ==
        std::vector<std::string>{"weight"});
}

TEST_CASE("wrong arguments are refused with the name of the argument") {
  using Catch::Contains;
  const auto refusal = [](const std::string& name, const Value& args, const Value& kwargs = Value::map()) {
    return failure_of([&] { (void)made(name, args, kwargs); });
  };
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3}), Contains("out_features"));
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3, 0}), Contains("args[1]") && Contains("at least 1"));
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3, "4"}), Contains("integer"));
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3, 4}, Value::map({{"out_features", 4}})),
             Contains("given twice"));
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3, 4}, Value::map({{"bais", true}})), Contains("bais"));
  CHECK_THAT(refusal("torch.nn:Linear", Value::List{3, 4}, Value::map({{"device", "cuda"}})),
             Contains("training.accelerator"));
  CHECK_THAT(refusal("torch.nn:Conv2d", Value::List{3, 4, 3}, Value::map({{"groups", 2}})),
             Contains("groups"));
  CHECK_THAT(refusal("torch.nn:Conv2d", Value::List{3, 4, 3}, Value::map({{"padding_mode", "mirror"}})),
             Contains("mirror"));
  CHECK_THAT(refusal("torch.nn:Conv2d", Value::List{3, 4, 3, 2, "same"}), Contains("stride"));
  CHECK_THAT(refusal("torch.nn:MaxPool2d", Value::List{2}, Value::map({{"return_indices", true}})),
             Contains("one tensor"));
  CHECK_THAT(refusal("torch.nn:Dropout", Value::List{1.5}), Contains("1.5"));
}

TEST_CASE("modules of several tensors are refused with the reason") {
  using Catch::Contains;
  const auto refusal = [](const std::string& name) { return failure_of([&] { (void)made(name); }); };
  CHECK_THAT(refusal("torch.nn.modules.rnn:LSTM"), Contains("an output and a state"));
  CHECK_THAT(refusal("torch.nn.modules.activation:MultiheadAttention"), Contains("query, keys and values"));
  CHECK_THAT(refusal("torch.nn.Bilinear"), Contains("two tensors"));
  CHECK_THAT(refusal("torch.nn:CrossEntropyLoss"), Contains("compares two tensors"));
  CHECK_THAT(refusal("torch.nn:ModuleList"), Contains("layers of their own"));
  CHECK_THAT(refusal("torch.nn:Linera"), Contains("torch.nn:Linear"));
}

TEST_CASE("torch.nn.Sequential holds modules under Python's names, and goes through a recipe") {
  const ComponentRegistry& known = shipped_registry();
  const auto part = [](const char* factory, Value::List args) {
    return Value::map({{"factory", factory}, {"args", std::move(args)}, {"kwargs", Value::map()}});
  };
  const Value layers =
      Value::list({part("torch.nn:Linear", {3, 4}), part("torch.nn:ReLU", {}),
                   part("torch.nn:Sequential", {Value::list({part("torch.nn:Linear", {4, 2})})})});
  const Recipe recipe = create_model_spec(known, "torch.nn.Sequential", {{"layers", layers}});
  const auto model = build_model(recipe, known);
  std::vector<std::string> names;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "2.0.weight", "2.0.bias"});
  CHECK(model_recipe(*model, known) == recipe);
  CHECK(create_model_spec_from_json(known, recipe.to_json(), "model.json") == recipe);

  const auto module = known.make<TargetKind::module>("torch.nn:Sequential", Value::list({layers}))
                          ->build(ModuleBuildContext{.layer = {}, .targets = &known, .stop = {}});
  at::Tensor by_hand = at::ones({2, 3});
  const auto parameters = module->module()->named_parameters();
  by_hand = at::linear(by_hand, parameters["0.weight"], parameters["0.bias"]).relu();
  by_hand = at::linear(by_hand, parameters["2.0.weight"], parameters["2.0.bias"]);
  CHECK(module->forward(at::ones({2, 3})).equal(by_hand));
}

TEST_CASE("nn_module stores the target's name and plain values") {
  const AnyLayer layer = nn_module("torch.nn:Linear", 128, 64, Keyword{"bias", false});
  const Value params = layer.params(&shipped_registry());
  CHECK(params.at("factory") == Value("torch.nn:Linear"));
  CHECK(params.at("args") == Value(Value::List{128, 64}));
  CHECK(params.at("kwargs") == Value::map({{"bias", false}}));
}
