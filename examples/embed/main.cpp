// Compiles a pipeline from definitions made in C++ and runs one batch through it.
#include <nexuml/compile.h>
#include <nexuml/libraries.h>

#include <iostream>

// A layer of this program alone: registered nowhere, and yet it compiles.
class DoubledRuntime final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return input * 2; }
};
struct Doubled {
  static void describe(nexuml::Schema<Doubled>& s) { s.summary("Twice its input."); }
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const {
    return context.single_output(context.input());
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<DoubledRuntime>(context);
  }
};

int main() try {
  using nexuml::Keys;
  nexuml::Diagnostics problems;
  const nexuml::ComponentRegistry registry = nexuml::load_libraries({.builtin_only = true}, problems);
  std::cerr << problems.to_text();

  nexuml::ScenarioSpec scenario{.name = "embedded"};
  scenario.pipeline.stages["Main"] = {
      {.component = Doubled{}, .keys_in = Keys{"features"}, .keys_out = {"doubled"}},
      {.component = registry.layer("LinearEncoder", {{"hidden_dims", std::vector{16}}, {"output_dim", 4}}),
       .keys_in = Keys{"doubled"},
       .keys_out = {"latent"}},
      {.component = nexuml::nn_module("torch.nn:Tanh"), .keys_in = Keys{"latent"}, .keys_out = {"bounded"}}};
  scenario.data.input_shapes["features"] = {8};

  const auto pipeline = nexuml::compile(scenario, {.registry = registry, .seed = 7});
  nexuml::Batch batch{.x = {{"features", torch::ones({2, 8})}}, .y = std::nullopt};
  pipeline->forward(batch);
  std::cout << "bounded: " << nexuml::to_string(nexuml::Shape(batch.x.get("bounded").sizes().vec())) << '\n';
  return 0;
} catch (const nexuml::Error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
