#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <nexuml/testing/one_layer.h>

#include <catch2/catch.hpp>

#include "compile/fake_layers.h"

using namespace nexuml;
using namespace nexuml::testing;

namespace {

const TensorDict features{{"features", at::ones({4, 6})}};

}  // namespace

TEST_CASE("a layer alone gives its outputs under the names that were asked for, and the same for one seed") {
  const OneLayerOptions options{.keys_out = {"latent"}, .seed = 3, .registry = fake::registry()};
  const TensorDict outputs = forward(fake::Dense{.size = 5}, features, options);
  CHECK(outputs.keys() == std::vector<std::string>{"latent"});
  CHECK(outputs.get("latent").sizes() == at::IntArrayRef{4, 5});
  CHECK(at::equal(outputs.get("latent"), forward(fake::Dense{.size = 5}, features, options).get("latent")));
  CHECK(outputs.get("latent").requires_grad());
}

TEST_CASE("a layer alone sees labels, their classes, names of inputs and the mode") {
  const TensorDict logits{{"logits", at::zeros({4, 3})}};
  CHECK(
      forward(
          fake::ClassLoss{}, logits,
          {.labels = {{"class", at::zeros({4}, at::kLong)}}, .num_classes = 3, .registry = fake::registry()})
          .get("output")
          .dim() == 0);
  const TensorDict two{{"left", at::ones({2, 3})}, {"right", at::zeros({2, 3})}};
  CHECK(at::equal(forward(fake::Difference{}, two, {.named_inputs = true}).get("output"), at::ones({2, 3})));
  CHECK(one_layer(fake::Noisy{.size = 6}, features, {.mode = Mode::training})->is_training());
  CHECK_FALSE(one_layer(fake::Noisy{.size = 6}, features)->is_training());
}

TEST_CASE("what a layer refuses is thrown with its words") {
  CHECK_THROWS_WITH(forward(fake::ClassLoss{}, {{"logits", at::zeros({4, 3})}},
                            {.labels = {{"class", at::zeros({4}, at::kLong)}}, .registry = fake::registry()}),
                    Catch::Contains("class"));
  CHECK_THROWS_WITH(forward(fake::Rogue{.how = "throws"}, features), Catch::Contains("E82"));
}
