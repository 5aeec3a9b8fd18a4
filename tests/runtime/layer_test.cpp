#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>

#include "compile/fake_layers.h"

using namespace nexuml;

namespace {

LayerBuildContext context_of(Keys in, Keys out, std::int64_t delay = 0, std::int64_t every = 1) {
  LayerBuildContext context;
  context.layer = "Main/00_Test";
  context.keys_in = std::move(in);
  context.keys_out = std::move(out);
  context.delay_epochs = delay;
  context.update_every_n_epochs = every;
  return context;
}

class PlusLabel : public PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor& label) override {
    return label.defined() ? input + label : input;
  }
  at::Tensor merged(const Batch& batch) const { return merge_inputs(batch); }
};

std::vector<std::string>& events() {
  static std::vector<std::string> all;
  return all;
}

class Recorder : public PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return input; }
  void on_fit_start() override { note("fit_start"); }
  void on_fit_end() override { note("fit_end"); }
  void on_train_start() override { note("train_start"); }
  void on_train_end() override { note("train_end"); }
  void on_train_epoch_start() override { note("train_epoch_start"); }
  void on_train_epoch_end() override { note("train_epoch_end"); }
  void on_validation_start() override { note("validation_start"); }
  void on_validation_epoch_end() override { note("validation_epoch_end"); }
  void on_validation_end() override { note("validation_end"); }

 private:
  void note(const char* hook) {
    events().push_back(std::string(hook) + ":" + std::string(to_string(mode())));
  }
};

}  // namespace

TEST_CASE("by default each input goes to the output in its place, with the label") {
  LayerBuildContext context = context_of({"a", "b"}, {"a", "c"});
  context.label_keys = {"shift"};
  PlusLabel layer(context);
  Batch batch{.x = {{"a", at::zeros({2})}, {"b", at::ones({2})}}, .y = TensorDict{{"shift", at::ones({2})}}};
  layer.forward(batch);
  CHECK(batch.x.get("a").sum().item<double>() == 2);
  CHECK(batch.x.get("b").sum().item<double>() == 2);
  CHECK(batch.x.get("c").sum().item<double>() == 4);
}

TEST_CASE("a label comes from x with label_in_x, is undefined without y, and has to be in y") {
  LayerBuildContext context = context_of({"a"}, {"b"});
  context.label_keys = {"shift"};
  PlusLabel from_y(context);
  Batch without{.x = {{"a", at::zeros({2})}}};
  from_y.forward(without);
  CHECK(without.x.get("b").sum().item<double>() == 0);
  Batch other{.x = {{"a", at::zeros({2})}}, .y = TensorDict{{"class", at::ones({2})}}};
  CHECK(fake::codes(fake::thrown_by([&] { from_y.forward(other); })) == "E801");
  context.label_in_x = true;
  PlusLabel from_x(context);
  Batch inside{.x = {{"a", at::zeros({2})}, {"shift", at::ones({2})}}};
  from_x.forward(inside);
  CHECK(inside.x.get("b").sum().item<double>() == 2);
}

TEST_CASE("without keys_out the result is dropped; unequal lists are refused") {
  PlusLabel dropping(context_of({"a"}, {}));
  Batch batch{.x = {{"a", at::zeros({2})}}};
  dropping.forward(batch);
  CHECK(batch.x.size() == 1);
  PlusLabel unequal(context_of({"a"}, {"b", "c"}));
  CHECK(fake::codes(fake::thrown_by([&] { unequal.forward(batch); })) == "E824");
}

TEST_CASE("merged inputs are concatenated along dimension 1, a single one stays as it is") {
  Batch batch{.x = {{"a", at::zeros({2, 3})}, {"b", at::zeros({2, 4})}}};
  CHECK(PlusLabel(context_of({"a", "b"}, {"c"})).merged(batch).size(1) == 7);
  CHECK(PlusLabel(context_of({"a"}, {"c"})).merged(batch).is_same(batch.x.get("a")));
}

TEST_CASE("epochs count when training epochs end and decide whether a layer takes part") {
  Recorder layer(context_of({"a"}, {"b"}, 2, 3));
  std::vector<bool> active;
  for (int epoch = 0; epoch < 9; ++epoch) {
    active.push_back(layer.check_update());
    layer.call(Hook::train_epoch_end);
  }
  CHECK(active == std::vector<bool>{false, false, true, false, false, true, false, false, true});
  CHECK(layer.epoch() == 9);
  Recorder once(context_of({"a"}, {"b"}, 1, 0));
  once.set_epoch(1);
  CHECK(once.check_update());
  once.set_epoch(2);
  CHECK_FALSE(once.check_update());
}

TEST_CASE("validation inside training leaves the mode as it found it") {
  events().clear();
  Recorder layer(context_of({"a"}, {"b"}));
  for (const Hook hook : {Hook::fit_start, Hook::train_start, Hook::train_epoch_start, Hook::validation_start,
                          Hook::validation_epoch_end, Hook::validation_end, Hook::train_epoch_end,
                          Hook::train_end, Hook::fit_end})
    layer.call(hook);
  CHECK(events() == std::vector<std::string>{"fit_start:none", "train_start:training",
                                             "train_epoch_start:training", "validation_start:validating",
                                             "validation_epoch_end:validating", "validation_end:validating",
                                             "train_epoch_end:training", "train_end:training",
                                             "fit_end:none"});
  CHECK(layer.mode() == Mode::none);
}

TEST_CASE("a post-train layer passes through until it is fitted and keeps what it learnt in its state") {
  LayerBuildContext context = context_of({"a"}, {"centred"});
  context.inputs["a"] = {.shape = {2}};
  auto layer = std::dynamic_pointer_cast<PostTrainLayer>(fake::Centre{}.build(context));
  REQUIRE(layer);
  const auto batch = [] { return Batch{.x = {{"a", at::ones({4, 2}) * 3}}}; };

  layer->set_mode(Mode::validating);
  Batch unfitted = batch();
  layer->forward(unfitted);
  CHECK_FALSE(unfitted.x.contains("centred"));
  layer->set_mode(Mode::testing);
  CHECK(fake::codes(fake::thrown_by([&] { layer->forward(unfitted); })) == "E824");

  layer->set_mode(Mode::none);
  layer->arm();
  layer->call(Hook::predict_start);
  Batch collected = batch();
  layer->forward(collected);
  CHECK_FALSE(collected.x.contains("centred"));
  layer->call(Hook::predict_end);
  CHECK(layer->fitted());
  CHECK_FALSE(layer->armed());
  Batch fitted = batch();
  layer->forward(fitted);
  CHECK(fitted.x.get("centred").abs().sum().item<double>() == 0);

  auto reloaded = std::dynamic_pointer_cast<PostTrainLayer>(fake::Centre{}.build(context));
  for (auto& buffer : reloaded->named_buffers()) buffer.value().copy_(layer->named_buffers()[buffer.key()]);
  CHECK(reloaded->fitted());
}
