#include <ATen/core/grad_mode.h>
#include <nexuml/layer.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plugins_library/shipped_registry.h"

using namespace nexuml;

namespace {

// A layer with its inputs, made at random.
struct Trial {
  std::string layer;
  Value params = Value::map();
  OrderedMap<Shape> inputs;  // of one sample
  std::vector<std::string> outputs{"out"};
  OrderedMap<Value> metadata = {};
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return from(0, 1) == 1; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(from(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  Shape shape(std::int64_t rank) {
    Shape sizes;
    for (std::int64_t i = 0; i < rank; ++i) sizes.push_back(from(2, 7));
    return sizes;
  }
  Value widths() {
    if (coin()) return {};
    Value list = Value::list();
    for (std::int64_t i = from(1, 3); i > 0; --i) list.push_back(from(1, 9));
    return list;
  }

 private:
  std::mt19937 random_;
};

LayerBuildContext context_for(const Trial& trial) {
  LayerBuildContext context;
  context.layer = trial.layer;
  for (const auto& [key, shape] : trial.inputs) {
    context.keys_in.push_back(key);
    context.inputs[key] = {.shape = shape};
  }
  context.input_names = context.keys_in;
  context.keys_out = trial.outputs;
  context.metadata = trial.metadata;
  context.targets = &library_tests::shipped_registry();
  context.storage = std::make_shared<SharedStorage>();
  return context;
}

// What infer tells is what a forward pass gives, for one sample and for several.
void check_trial(const Trial& trial) {
  INFO(trial.layer << " " << write_json(trial.params, {.indent = -1}));
  const AnyLayer definition =
      library_tests::shipped_registry().definition({ComponentKind::layer, trial.layer}, trial.params);
  const LayerBuildContext context = context_for(trial);
  const Shapes inferred = definition->infer(context).value();
  const auto layer = definition->build(context);
  layer->eval();
  const at::NoGradGuard no_grad;
  for (const std::int64_t batch_size : {1, 3}) {
    Batch batch;
    for (const auto& [key, shape] : trial.inputs) {
      INFO(key << " " << to_string(shape));
      std::vector<std::int64_t> sizes(shape);
      sizes.insert(sizes.begin(), batch_size);
      batch.x.set(key, at::randn(sizes));
    }
    layer->forward(batch);
    for (const auto& [key, spec] : inferred.outputs) {
      const at::Tensor& output = batch.x.get(key);
      REQUIRE(output.dim() > 0);
      CHECK(output.size(0) == batch_size);
      CHECK(to_string(Shape(output.sizes().begin() + 1, output.sizes().end())) == to_string(spec.shape));
      CHECK(dtype_of(output.scalar_type()) == spec.dtype);
    }
  }
}

Trial linear_encoder(Dice& dice) {
  return {.layer = "LinearEncoder",
          .params = Value::map({{"hidden_dims", dice.widths()},
                                {"output_dim", dice.from(1, 9)},
                                {"bias", dice.coin()},
                                {"last_activation", dice.coin()}}),
          .inputs = {{"x", dice.shape(dice.from(0, 3))}}};
}

Trial linear(Dice& dice) {
  Trial trial{.layer = "Linear",
              .params = Value::map({{"target_dim", dice.from(1, 9)},
                                    {"hidden_dims", dice.widths()},
                                    {"n_layers", dice.from(1, 3)},
                                    {"hidden_dim", 5},
                                    {"linear_bias", dice.coin()}}),
              .inputs = {{"x", dice.shape(3)}}};
  if (dice.coin())
    trial.params.set("flatten_dims",
                     dice.one_of<Value>({Value::list({1, -1}), Value::list({2, 3}), Value::list({1, 2})}));
  return trial;
}

Trial token_pool(Dice& dice) {
  const std::string type = dice.one_of<std::string>({"mean", "max", "std", "mean_std", "cls", "multilayer"});
  const bool layers = type == "multilayer";
  const std::int64_t rank = layers ? dice.from(2, 3) : dice.from(2, 4);
  return {.layer = "TokenPool",
          .params = Value::map(
              {{"pooling_type", type},
               {"dim", layers ? dice.from(1, rank - 1) : dice.from(1, rank) - (dice.coin() ? rank + 1 : 0)},
               {"remove_dim", dice.coin()},
               {"skip_first", dice.coin()}}),
          .inputs = {{"x", dice.shape(rank)}}};
}

Trial pool_by_attention(Dice& dice) {
  const bool statistics = dice.coin();
  Trial trial{.layer = statistics ? "AttentiveStatisticsPool" : "AttentionPool",
              .params = Value::map({{"dim", dice.coin() ? 1 : -2}, {"remove_dim", dice.coin()}}),
              .inputs = {{"x", {dice.from(1, 6), 6}}}};
  trial.params.set(statistics ? "hidden_dim" : "n_heads", dice.from(1, 3));
  return trial;
}

Trial projector(Dice& dice) {
  if (dice.coin())
    return {.layer = "Conv1dProjector",
            .params = Value::map({{"target_dim", dice.from(1, 9)},
                                  {"n_layers", dice.from(0, 3)},
                                  {"hidden_dim", 4},
                                  {"bias", dice.coin()}}),
            .inputs = {{"x", dice.shape(2)}}};
  return {.layer = "LowRankProjector",
          .params =
              Value::map({{"target_dim", dice.from(1, 9)}, {"rank", dice.from(1, 4)}, {"bias", dice.coin()}}),
          .inputs = {{"x", dice.shape(dice.from(1, 3))}}};
}

Value schedule(Dice& dice, std::size_t steps, std::int64_t low, std::int64_t high) {
  Value list = Value::list();
  for (std::size_t i = 0; i < steps; ++i)
    list.push_back(dice.coin() ? Value(dice.from(low, high))
                               : Value::list({dice.from(low, high), dice.from(low, high)}));
  return list;
}

Trial convolutional_encoder(Dice& dice) {
  const auto steps = static_cast<std::size_t>(dice.from(1, 3));
  Trial trial{.layer = "ConvolutionalEncoder",
              .params = Value::map(
                  {{"output_dim", dice.from(1, 9)},
                   {"channel_schedule", schedule(dice, 0, 1, 1)},
                   {"activation", dice.one_of<std::string>({"relu", "gelu", "leaky_relu", "silu"})}}),
              .inputs = {{"x", {dice.from(1, 3), dice.from(5, 20), dice.from(5, 20)}}}};
  Value channels = Value::list();
  for (std::size_t i = 0; i < steps; ++i) channels.push_back(dice.from(1, 6));
  trial.params.set("channel_schedule", channels);
  if (dice.coin()) trial.params.set("kernel_sizes", schedule(dice, steps, 1, 5));
  if (dice.coin()) trial.params.set("strides", schedule(dice, steps, 1, 3));
  return trial;
}

Trial convolutional_decoder(Dice& dice) {
  Trial trial = convolutional_encoder(dice);
  trial.layer = "ConvolutionalDecoder";
  trial.params.erase("output_dim");
  trial.params.set("output_shape", Value::list({dice.from(1, 3), dice.from(1, 20), dice.from(1, 20)}));
  trial.inputs = {{"x", dice.shape(dice.from(1, 2))}};
  trial.metadata["decoder_shape"] = Value::list({dice.from(1, 6), dice.from(1, 4), dice.from(1, 4)});
  return trial;
}

Trial lmbe(Dice& dice) {
  const std::int64_t window = dice.from(16, 80);
  Trial trial{.layer = "LMBE",
              .params = Value::map(
                  {{"n_mels", dice.from(1, 12)},
                   {"n_fft", window},
                   {"hop_length", dice.from(1, 40)},
                   {"power", dice.from(1, 3)},
                   {"mel_scale", dice.coin() ? "htk" : "slaney"},
                   {"pad_mode", dice.one_of<std::string>({"constant", "reflect", "replicate", "circular"})},
                   {"use_librosa", dice.coin()},
                   {"to_db", dice.coin()},
                   {"normalize", dice.coin()}}),
              .inputs = {{"x", {dice.from(100, 300)}}}};
  if (dice.coin()) trial.params.set("win_length", dice.from(8, window));
  if (dice.coin()) trial.inputs = {{"x", {dice.from(1, 3), dice.from(100, 300)}}};
  return trial;
}

Trial head(Dice& dice) {
  const Shape latent = dice.shape(dice.from(1, 2));
  if (dice.coin())
    return {.layer = "LatentRegressionHead",
            .params = Value::map({{"num_outputs", dice.from(1, 4)}, {"hidden_dims", dice.widths()}}),
            .inputs = {{"x", latent}}};
  return {.layer = "LatentClassificationHead",
          .params = Value::map({{"hidden_dims", dice.widths()}}),
          .inputs = {{"x", latent}}};
}

Trial variational_latent(Dice& dice) {
  std::vector<std::string> outputs{"z", "mu", "logvar", "kl"};
  outputs.resize(static_cast<std::size_t>(dice.from(1, 4)));
  return {.layer = "VariationalLatent",
          .params = Value::map({{"latent_dim", dice.from(1, 5)}}),
          .inputs = {{"x", dice.shape(dice.from(1, 2))}},
          .outputs = outputs};
}

Trial merge(Dice& dice) {
  const Shape common = dice.shape(dice.from(1, 3));
  const auto rank = static_cast<std::int64_t>(common.size());
  const std::int64_t dim = dice.from(1, rank);
  Trial trial{.layer = "MergeLayer",
              .params = Value::map({{"dim", dice.coin() ? dim : dim - rank - 1}}),
              .inputs = {}};
  for (const char* key : {"a", "b", "c"}) {
    Shape shape = common;
    shape[static_cast<std::size_t>(dim - 1)] = dice.from(1, 5);
    trial.inputs[key] = shape;
  }
  return trial;
}

Trial pair_of_inputs(Dice& dice) {
  const Shape shape = dice.shape(dice.from(0, 3));
  return {.layer = dice.coin() ? "AnomalyScore" : "ReconstructionLoss",
          .inputs = {{"a", shape}, {"b", shape}}};
}

Trial elementwise(Dice& dice) {
  return {.layer = dice.one_of<std::string>({"L2Normalize", "AdditiveNoise", "LogitsToClass"}),
          .inputs = {{"x", dice.shape(dice.from(1, 3))}}};
}

}  // namespace

TEST_CASE("the shapes that a layer infers are those that it produces") {
  torch::manual_seed(5);
  const std::vector<std::function<Trial(Dice&)>> makers{linear_encoder,
                                                        linear,
                                                        token_pool,
                                                        pool_by_attention,
                                                        projector,
                                                        convolutional_encoder,
                                                        convolutional_decoder,
                                                        lmbe,
                                                        head,
                                                        variational_latent,
                                                        merge,
                                                        pair_of_inputs,
                                                        elementwise};
  Dice dice(17);
  for (int round = 0; round < 25; ++round)
    for (const auto& make : makers) check_trial(make(dice));
}

TEST_CASE("each residual network has torchvision's number of tensors and its width") {
  const std::vector<std::pair<std::string, std::size_t>> networks{
      {"resnet18", 120}, {"resnet34", 216}, {"resnet50", 318}};
  for (const auto& [type, tensors] : networks) {
    const Trial trial{
        .layer = "ResNet", .params = Value::map({{"resnet_type", type}}), .inputs = {{"x", {1, 8, 8}}}};
    check_trial(trial);
    const auto layer =
        library_tests::shipped_registry().definition({ComponentKind::layer, "ResNet"}, trial.params);
    const auto built = AnyLayer(layer)->build(context_for(trial));
    CHECK(built->named_parameters().size() + built->named_buffers().size() == tensors);
  }
}

TEST_CASE("wrong shapes and keys are refused before a weight is allocated") {
  const auto refuse = [](Trial trial) {
    INFO(trial.layer << " " << write_json(trial.params, {.indent = -1}));
    const AnyLayer definition =
        library_tests::shipped_registry().definition({ComponentKind::layer, trial.layer}, trial.params);
    CHECK_THROWS_AS(definition->infer(context_for(trial)), Error);
  };
  refuse({.layer = "ConvolutionalEncoder", .inputs = {{"x", {16, 16}}}});
  refuse({.layer = "ConvolutionalDecoder",
          .params = Value::map({{"output_shape", Value::list({1, 8, 8})}}),
          .inputs = {{"x", {4}}}});
  refuse({.layer = "AttentionPool", .params = Value::map({{"n_heads", 3}}), .inputs = {{"x", {7, 8}}}});
  refuse({.layer = "TokenPool", .params = Value::map({{"dim", 0}}), .inputs = {{"x", {7, 8}}}});
  refuse({.layer = "TokenPool", .params = Value::map({{"skip_first", true}}), .inputs = {{"x", {1, 8}}}});
  refuse({.layer = "TokenPool",
          .params = Value::map({{"pooling_type", "multilayer"}, {"dim", -1}}),
          .inputs = {{"x", {3, 8}}}});
  refuse(
      {.layer = "MergeLayer", .params = Value::map({{"dim", -1}}), .inputs = {{"a", {3, 4}}, {"b", {2, 4}}}});
  refuse({.layer = "MergeLayer", .inputs = {{"a", {3, 4}}}, .outputs = {"z", "w"}});
  refuse({.layer = "VariationalLatent", .inputs = {{"x", {4}}}, .outputs = {"a", "b", "c", "d", "e"}});
  refuse({.layer = "LinearEncoder", .inputs = {{"x", {unknown_size}}}});
  refuse({.layer = "AnomalyScore", .inputs = {{"x", {4}}}});
  refuse({.layer = "ResNet", .params = Value::map({{"pretrained", true}}), .inputs = {{"x", {3, 8, 8}}}});
  refuse({.layer = "LMBE", .params = Value::map({{"pad_mode", "reflect"}}), .inputs = {{"x", {100}}}});
  refuse({.layer = "ClassificationMetrics", .inputs = {{"x", {4}}}, .outputs = {"auroc"}});
}
