// Weights by name: ties, wrappers, what is missing, extra, of another shape or dtype, and what may pass.
#include "checkpoint/weights.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

#include "checkpoint/small_checkpoint.h"
#include "train/factories.h"

namespace nexuml {
namespace {

const std::string ties = std::string(NEXUML_TEST_DATA) + "/cases/C05-tied-tensors/";
using Strings = std::vector<std::string>;

// One matrix that an embedding and a head share.
struct TiedModel final : torch::nn::Module {
  at::Tensor matrix = at::full({4, 3}, 9.0);
  std::shared_ptr<torch::nn::Module> embed = std::make_shared<torch::nn::Module>();
  std::shared_ptr<torch::nn::Module> head = std::make_shared<torch::nn::Module>();
  explicit TiedModel(bool with_bias = false) {
    matrix = embed->register_parameter("weight", matrix);
    head->register_parameter("weight", matrix);
    if (with_bias) head->register_parameter("bias", at::zeros({4}));
    register_module("embed", embed);
    register_module("head", head);
  }
};

struct TwoLinear final : torch::nn::Module {
  torch::nn::Linear encoder{nullptr}, decoder{nullptr};
  TwoLinear() {
    encoder = register_module("encoder", torch::nn::Linear(3, 2));
    decoder = register_module("decoder", torch::nn::Linear(2, 3));
  }
};

CheckpointLoadSpec strict() {
  CheckpointLoadSpec rules;
  rules.allow_missing = false;
  rules.allow_shape_mismatch = false;
  return rules;
}

TensorMap weights_of(const torch::nn::Module& module, double value) {
  TensorMap weights;
  for (const auto& [name, tensor] : state_dict(module))
    weights.add(name, at::full_like(tensor, value).detach());
  return weights;
}

TensorMap renamed(const TensorMap& weights, const std::function<std::string(const std::string&)>& rename) {
  TensorMap result;
  for (const auto& [name, tensor] : weights) result.add(rename(name), tensor);
  return result;
}

std::string refusal(torch::nn::Module& module, const TensorMap& weights, const CheckpointLoadSpec& rules) {
  TensorMap before;
  for (const auto& [name, tensor] : state_dict(module)) before.add(name, tensor.detach().clone());
  try {
    load_weights(module, weights, rules, "file.pt");
  } catch (const Error& error) {
    for (const auto& [name, tensor] : state_dict(module)) CHECK(at::equal(tensor, before.at(name)));
    CHECK(error.diagnostics().entries().front().code == "E760");
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("tied weights load from a file with both names, and stay one tensor") {
  TiedModel model(true);
  const LoadReport report = load_weights(model, read_weights(ties + "tied.pt"), strict(), "tied.pt");
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  const TensorMap own = state_dict(model);
  CHECK(at::equal(own.at("embed.weight"), at::arange(12, at::kFloat).reshape({4, 3})));
  CHECK(own.at("embed.weight").is_same(own.at("head.weight")));
}

TEST_CASE("tied weights that a file stores once are not missing under the other name") {
  TiedModel model(true);
  TensorMap weights = read_weights(ties + "tied_once.safetensors");
  if (!weights.contains("head.bias")) weights.add("head.bias", at::ones({4}));
  const LoadReport report = load_weights(model, weights, strict(), "tied_once.safetensors");
  CHECK(report.missing.empty());
  const TensorMap own = state_dict(model);
  CHECK(at::equal(own.at("head.weight"), at::arange(12, at::kFloat).reshape({4, 3})));
  CHECK(find_shared(own) == std::vector<Strings>{{"embed.weight", "head.weight"}});
}

TEST_CASE("a file with different values for tied names is refused, naming both") {
  TiedModel model(true);
  TensorMap weights = read_weights(ties + "untied_differs.safetensors");
  if (!weights.contains("head.bias")) weights.add("head.bias", at::ones({4}));
  const std::string problem = refusal(model, weights, strict());
  CHECK_THAT(problem, Catch::Contains("embed.weight") && Catch::Contains("head.weight") &&
                          Catch::Contains("values in the file differ"));
  CHECK_THROWS_AS(load_state_dict(model, weights), Error);
  CheckpointLoadSpec rules;
  rules.exclude = {"head.weight"};
  CHECK(refusal(model, weights, rules).empty());  // chosen by hand
}

TEST_CASE("weights that Python's save_model stored once come back under every name") {
  const test::ScratchFolder folder;
  const std::string path = folder.path / "model.safetensors";
  TensorMap stored;
  stored.add("embed.weight", at::arange(12, at::kFloat).reshape({4, 3}));
  write_safetensors(path, stored, {{"format", "pt"}, {"head.weight", "embed.weight"}});
  const TensorMap weights = read_weights(path);
  CHECK(weights.names() == Strings{"embed.weight", "head.weight"});
  CHECK(weights.at("head.weight").is_same(weights.at("embed.weight")));
}

TEST_CASE("an optimizer gets tied parameters once") {
  const TiedModel model(true);
  Strings names;
  for (const NamedParameter& parameter : parameters_of(model)) names.push_back(parameter.name);
  CHECK(names == Strings{"embed.weight", "head.bias"});
}

TEST_CASE("names inside wrappers load in any nesting, and the report says what was taken out") {
  const TwoLinear reference;
  const TensorMap plain = weights_of(reference, 0.5);
  using Rename = std::function<std::string(const std::string&)>;
  const std::vector<std::pair<std::string, Rename>> wrappers{
      {"module.", [](const std::string& name) { return "module." + name; }},
      {"_orig_mod.", [](const std::string& name) { return "_orig_mod." + name; }},
      {"module._orig_mod.", [](const std::string& name) { return "module._orig_mod." + name; }},
      {"_orig_mod.module.", [](const std::string& name) { return "_orig_mod.module." + name; }},
      {"pipeline._orig_mod.module.",
       [](const std::string& name) { return "pipeline._orig_mod.module." + name; }},
      {"_orig_mod.",
       [](const std::string& name) {
         return name.starts_with("decoder.") ? "decoder._orig_mod." + name.substr(8) : name;
       }},
  };
  for (const auto& [removed, rename] : wrappers) {
    INFO(removed);
    TwoLinear model;
    const LoadReport report = load_weights(model, renamed(plain, rename), strict(), "file.pt");
    CHECK(report.matched.size() == 4);
    CHECK(report.unexpected.empty());
    REQUIRE(report.unwrapped.size() == 1);
    CHECK_THAT(report.unwrapped.front(), Catch::StartsWith(removed + " from"));
  }
}

TEST_CASE("a wrapper's name that belongs to the module itself is left in its names") {
  struct Adapter final : torch::nn::Module {
    Adapter() { register_module("module", torch::nn::Linear(2, 2).ptr()); }
  };
  Adapter model;
  const TensorMap plain = weights_of(model, 0.25);
  CHECK(load_weights(model, plain, strict(), "file.pt").unwrapped.empty());
  const auto wrapped = [](const std::string& name) { return "module." + name; };
  const LoadReport report = load_weights(model, renamed(plain, wrapped), strict(), "file.pt");
  CHECK(report.matched == Strings{"module.weight", "module.bias"});
  CHECK(report.unwrapped == Strings{"module. from 2 names"});
}

TEST_CASE("the same name with and without a wrapper is refused") {
  TwoLinear model;
  TensorMap weights = weights_of(model, 1);
  weights.add("module.encoder.weight", at::zeros({2, 3}));
  CHECK_THAT(refusal(model, weights, {}),
             Catch::Contains("encoder.weight") && Catch::Contains("stands twice"));
}

TEST_CASE("missing, unexpected and differently shaped tensors are listed together, and nothing is loaded") {
  TwoLinear model;
  TensorMap weights;
  weights.add("encoder.weight", at::zeros({3, 2}));
  weights.add("encoder.bias", at::zeros({2}));
  weights.add("decoder.0.weight", at::zeros({3, 2}));
  const std::string problem = refusal(model, weights, strict());
  for (const char* part : {"2 tensors of the pipeline are missing", "decoder.weight, decoder.bias",
                           "decoder.weight may be decoder.0.weight", "[2, 3]", "[3, 2]", "transposed?",
                           "1 tensors of the file belong to no parameter"})
    CHECK_THAT(problem, Catch::Contains(part));
}

TEST_CASE("what may pass is passed over and reported") {
  TwoLinear model;
  const at::Tensor decoder = model.decoder->weight.detach().clone();
  TensorMap weights;
  weights.add("encoder.weight", at::ones({2, 3}));
  weights.add("encoder.bias", at::zeros({5}));
  weights.add("other", at::zeros({1}));
  const LoadReport report = load_weights(model, weights, {}, "file.pt");
  CHECK(report.matched == Strings{"encoder.weight"});
  CHECK(report.missing == Strings{"decoder.weight", "decoder.bias"});
  CHECK(report.unexpected == Strings{"other"});
  CHECK(report.shape_mismatched.size() == 1);
  CHECK(at::equal(model.encoder->weight, at::ones({2, 3})));
  CHECK(at::equal(model.decoder->weight, decoder));
}

TEST_CASE("include and exclude choose by globs on full names, and exactly what was loaded is frozen") {
  TwoLinear model;
  CheckpointLoadSpec rules = strict();
  rules.include = {"encoder.*"};
  rules.exclude = {"*.bias"};
  rules.freeze_loaded = true;
  const LoadReport report = load_weights(model, weights_of(model, 2), rules, "file.pt");
  CHECK(report.matched == Strings{"encoder.weight"});
  CHECK(report.missing.empty());
  CHECK(report.excluded == Strings{"encoder.bias", "decoder.weight", "decoder.bias"});
  CHECK_FALSE(model.encoder->weight.requires_grad());
  CHECK(model.encoder->bias.requires_grad());
  CHECK(model.decoder->weight.requires_grad());
}

TEST_CASE("what exclude names may be missing, extra or of another shape where nothing else may") {
  TwoLinear model;
  TensorMap weights;
  weights.add("encoder.weight", at::ones({2, 3}));
  weights.add("encoder.bias", at::ones({7}));
  weights.add("fc.weight", at::ones({2}));
  CHECK_THAT(refusal(model, weights, strict()), Catch::Contains("decoder.weight, decoder.bias") &&
                                                    Catch::Contains("encoder.bias") &&
                                                    Catch::Contains("fc.weight"));
  CheckpointLoadSpec rules = strict();
  rules.exclude = {"decoder.*", "encoder.bias", "fc.*"};
  const LoadReport report = load_weights(model, weights, rules, "file.pt");
  CHECK(report.matched == Strings{"encoder.weight"});
  CHECK(report.excluded == Strings{"encoder.bias", "fc.weight"});
  rules.exclude = {"decoder.weight", "encoder.bias", "fc.*"};
  CHECK_THAT(refusal(model, weights, rules), Catch::Contains("1 tensors of the pipeline are missing"));
}

TEST_CASE("rules that choose nothing are refused: the random weights would stay without a word") {
  TwoLinear model;
  CheckpointLoadSpec rules;
  rules.include = {"stages.*"};
  CHECK_THAT(refusal(model, weights_of(model, 2), rules), Catch::Contains("random weights"));
}

TEST_CASE("another precision is converted and reported, another kind of number is refused") {
  TwoLinear model;
  TensorMap halves;
  for (const auto& [name, tensor] : weights_of(model, 0.5)) halves.add(name, tensor.to(at::kBFloat16));
  const LoadReport report = load_weights(model, halves, strict(), "file.pt");
  REQUIRE(report.converted.size() == 4);
  CHECK(report.converted.front() == "encoder.weight: BFloat16 to Float");
  CHECK(model.encoder->weight.eq(0.5).all().item<bool>());
  CHECK_THROWS_WITH(load_state_dict(model, halves), Catch::Contains("4 dtypes differ"));  // a resume is exact

  TensorMap complex;
  for (const auto& [name, tensor] : weights_of(model, 0.5)) complex.add(name, tensor.to(at::kComplexFloat));
  CHECK_THAT(refusal(model, complex, strict()), Catch::Contains("ComplexFloat in the file"));
}

}  // namespace nexuml
