#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>

#include <catch2/catch.hpp>
#include <thread>

#include "compile/fake_layers.h"
#include "runtime/seeded_random.h"

using namespace nexuml;

namespace {

ScenarioSpec wide_scenario(int layers) {
  std::vector<LayerSpec> specs;
  for (int i = 0; i < layers; ++i)
    specs.push_back(fake::layer(fake::Dense{.size = 16}, {"features"}, {"latent" + std::to_string(i)}));
  return fake::scenario(std::move(specs));
}

std::vector<std::pair<std::string, at::Tensor>> state_of(const CompiledPipeline& pipeline) {
  std::vector<std::pair<std::string, at::Tensor>> state;
  for (const auto& item : pipeline.named_parameters()) state.emplace_back(item.key(), item.value());
  for (const auto& item : pipeline.named_buffers()) state.emplace_back(item.key(), item.value());
  return state;
}

bool same_bits(const CompiledPipeline& left, const CompiledPipeline& right) {
  const auto a = state_of(left), b = state_of(right);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].first != b[i].first || !at::equal(a[i].second, b[i].second)) return false;
  return true;
}

CompileOptions with_threads(int threads, std::uint64_t seed = 3) {
  return {.registry = fake::registry(), .seed = seed, .threads = threads};
}

Diagnostics failure(const ScenarioSpec& scenario, CompileOptions options = with_threads(2)) {
  return fake::thrown_by([&] { (void)compile(scenario, options); });
}

}  // namespace

TEST_CASE("parameters are named after stage, position and component; only NnModule adds module") {
  const auto scenario = fake::scenario({fake::layer(fake::Dense{.size = 4}, {"features"}, {"latent"}),
                                        fake::layer(nn_module("fake.nn:Linear", 4, 2), {"latent"}, {"out"}),
                                        fake::layer(fake::Unregistered{}, {"out"}, {"scaled"})});
  const auto pipeline = compile(scenario, with_threads(1));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state_of(*pipeline)) names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "stages.Main.00_Dense.linear.weight", "stages.Main.00_Dense.linear.bias",
                     "stages.Main.01_NnModule.module.weight", "stages.Main.01_NnModule.module.bias"});
  CHECK(pipeline->layers()[2].name == "02_Unregistered");
  CHECK(pipeline->find_layer("Main/01_NnModule") == pipeline->layers()[1].layer);
}

TEST_CASE("forward runs every layer; forward_until stops as soon as the keys exist") {
  const auto scenario = fake::scenario({fake::layer(fake::Dense{.size = 4}, {"features"}, {"latent"}),
                                        fake::layer(fake::MeanLoss{}, {"latent"}, {"mean"})});
  const auto pipeline = compile(scenario, with_threads(1));
  Batch batch{.x = {{"features", at::ones({3, 6})}}};
  pipeline->forward_until(batch, {"features"});
  CHECK(batch.x.size() == 1);
  pipeline->forward_until(batch, {"latent"});
  CHECK(batch.x.size() == 2);
  pipeline->forward_until(batch, {});
  CHECK(batch.x.get("mean").dim() == 0);
  const auto problems = fake::thrown_by([&] { pipeline->forward_until(batch, {"maen"}, {"class"}); });
  CHECK(problems.to_text().find("x [maen], y [class]") != std::string::npos);
  CHECK(problems.entries()[0].hint.find("mean") != std::string::npos);
}

TEST_CASE("a failure while a batch runs names the layer and comes without a backtrace") {
  const auto pipeline =
      compile(fake::scenario({fake::layer(fake::Dense{}, {"features"}, {"latent"})}), with_threads(1));
  Batch batch{.x = {{"features", at::ones({3, 5})}}};
  const auto problems = fake::thrown_by([&] { pipeline->forward(batch); });
  CHECK(fake::codes(problems) == "E825");
  CHECK(problems.entries()[0].where.layer == "Main/00_Dense");
  CHECK(problems.to_text().find("frame #") == std::string::npos);
}

TEST_CASE(
    "weights are a function of seed, stage and layer: equal for every thread count, in company or alone") {
  const ScenarioSpec scenario = wide_scenario(24);
  const auto serial = compile(scenario, with_threads(1));
  for (int repetition = 0; repetition < 100; ++repetition)
    for (const int threads : {2, 3, 8}) CHECK(same_bits(*serial, *compile(scenario, with_threads(threads))));
  CHECK_FALSE(same_bits(*serial, *compile(scenario, with_threads(2, 4))));

  const std::vector<CompileInput> inputs{scenario, scenario, scenario};
  for (const auto& pipeline : compile_all(inputs, with_threads(2))) CHECK(same_bits(*serial, *pipeline));

  SeededRandom::force_serial(true);
  Diagnostics advice;
  CompileOptions fallback = with_threads(2);
  fallback.advice = &advice;
  CHECK(same_bits(*serial, *compile(scenario, fallback)));
  SeededRandom::force_serial(false);
  CHECK(fake::codes(advice, false) == "W828");
}

TEST_CASE("building leaves the random stream, running statistics, training flags and storage as they were") {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(11);
  const at::Tensor before = default_random_state();
  const auto scenario = fake::scenario({fake::layer(fake::Dense{.size = 8}, {"features"}, {"latent"}),
                                        fake::layer(fake::Noisy{}, {"latent"}, {"noisy"}),
                                        fake::layer(fake::Writer{}, {"noisy"}, {"written"}),
                                        fake::layer(fake::Reader{}, {"written"}, {"read"})});
  const auto pipeline = compile(scenario, with_threads(2));
  CHECK(at::equal(before, default_random_state()));
  for (const auto& item : pipeline->named_buffers()) {
    CAPTURE(item.key());
    const bool variance = item.key().find("running_var") != std::string::npos;
    CHECK(item.value().sum().item<double>() == (variance ? 8 : 0));
  }
  for (const auto& module : pipeline->modules()) CHECK(module->is_training());
  CHECK(pipeline->storage().keys().empty());
}

TEST_CASE("two layers exchange a tensor through the storage of their pipeline") {
  const auto scenario = fake::scenario({fake::layer(fake::Writer{}, {"features"}, {"written"}),
                                        fake::layer(fake::Reader{}, {"written"}, {"read"})});
  const auto first = compile(scenario, with_threads(2)), second = compile(scenario, with_threads(2));
  Batch batch{.x = {{"features", at::ones({2, 6})}}};
  first->forward(batch);
  CHECK(batch.x.get("read").sum().item<double>() == 12 * 13);
  CHECK(second->storage().keys().empty());
}

TEST_CASE("a layer without infer is tried, and what it makes is known to later layers") {
  const auto scenario = fake::scenario({fake::layer(fake::Opaque{.size = 5}, {"features"}, {"latent"}),
                                        fake::layer(fake::Dense{.size = 3}, {"latent"}, {"out"}),
                                        fake::layer(fake::Opaque{.size = 2}, {"out"}, {"end"})});
  const auto pipeline = compile(scenario, with_threads(2));
  CHECK(to_string(*pipeline->specs().find("latent")) == "[5] float32");
  CHECK(to_string(*pipeline->specs().find("end")) == "[2] float32");
  CHECK(same_bits(*pipeline, *compile(scenario, with_threads(1))));
}

TEST_CASE("metadata reaches later layers, from fields, from infer and from built layers") {
  auto dense = fake::layer(fake::Dense{.size = 8}, {"features"}, {"latent"});
  dense.meta_out = {{"size", "width"}, {"input_size", "before"}};
  auto opaque = fake::layer(fake::Opaque{.size = 8}, {"features"}, {"other"});
  opaque.meta_out = {{"input_size", "seen"}};
  auto by_field = fake::layer(fake::ByWidth{}, {"features"}, {"by_field"});
  by_field.meta_in = {{"width", "width"}};
  auto by_built = fake::layer(fake::ByWidth{}, {"features"}, {"by_built"});
  by_built.meta_in = {{"width", "seen"}};
  const auto pipeline = compile(fake::scenario({dense, opaque, by_field, by_built}), with_threads(2));
  Batch batch{.x = {{"features", at::ones({1, 6})}}};
  pipeline->forward(batch);
  CHECK(batch.x.get("by_field").sum().item<double>() == 6 * 8);
  CHECK(batch.x.get("by_built").sum().item<double>() == 6 * 6);
  CHECK(pipeline->metadata().find("before")->as_integer() == 6);

  opaque.meta_out = {{"inptu_size", "seen"}};
  CHECK(fake::codes(failure(fake::scenario({opaque, by_built}))) == "E805");
}

TEST_CASE("an exception while a layer is built names it, whatever was thrown") {
  const auto fails = [](const char* how) {
    return failure(fake::scenario({fake::layer(fake::Dense{}, {"features"}, {"latent"}),
                                   fake::layer(fake::Rogue{.how = how}, {"features"}, {"out"})}));
  };
  for (const char* how : {"throws", "torch", "null"}) {
    const Diagnostics problems = fails(how);
    CAPTURE(how, problems.to_text());
    CHECK(fake::codes(problems) == "E822");
    CHECK(problems.entries()[0].where.layer == "Main/01_Rogue");
    CHECK(problems.to_text().find("frame #") == std::string::npos);
  }
  CHECK(fails("throws").to_text().find("the disk of the layer is full") != std::string::npos);
}

TEST_CASE("a layer that draws from the default generator is found, also among innocent ones") {
  const at::Tensor before = default_random_state();
  const Diagnostics problems =
      failure(fake::scenario({fake::layer(fake::Dense{}, {"features"}, {"latent"}),
                              fake::layer(fake::Rogue{.how = "draws"}, {"features"}, {"out"}),
                              fake::layer(fake::Dense{}, {"features"}, {"other"})}));
  CHECK(fake::codes(problems) == "E823");
  CHECK(problems.entries()[0].where.layer == "Main/01_Rogue");
  CHECK(at::equal(before, default_random_state()));
}

TEST_CASE("inferred shapes that differ from the real ones are an error of the layer") {
  const Diagnostics problems =
      failure(fake::scenario({fake::layer(fake::Rogue{.how = "lies"}, {"features"}, {"out"})}));
  CHECK(fake::codes(problems) == "E827");
  CHECK(problems.to_text().find("inferred [7] float32 for 'out' and made [6] float32") != std::string::npos);
}

TEST_CASE("a stop during a long build ends it") {
  std::stop_source stop;
  CompileOptions options = with_threads(2);
  options.stop = stop.get_token();
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const Diagnostics problems =
      failure(fake::scenario({fake::layer(fake::Rogue{.how = "waits"}, {"features"}, {"out"})}), options);
  later.join();
  CHECK(fake::codes(problems) == "E826");
}

TEST_CASE("a label of the data reaches the dry pass, and a post-train layer may add nothing to it") {
  auto loss = fake::layer(fake::ClassLoss{}, {"features"}, {"loss"});
  loss.label_key = "class";
  const auto pipeline = compile(fake::scenario({loss, fake::layer(fake::Centre{}, {"features"}, {"centred"}),
                                                fake::layer(fake::Dense{}, {"centred"}, {"latent"})}),
                                with_threads(2));
  CHECK(pipeline->specs().find("loss")->shape.empty());
  CHECK(to_string(*pipeline->specs().find("latent")) == "[8] float32");
}

TEST_CASE("a gated layer adds nothing in the epochs that leave it out, and runs outside of training") {
  auto late = fake::layer(fake::Dense{}, {"features"}, {"latent"});
  late.delay_epochs = 1;
  const auto pipeline = compile(fake::scenario({late}), with_threads(1));
  const auto makes_latent = [&] {
    Batch batch{.x = {{"features", at::ones({2, 6})}}};
    pipeline->forward(batch);
    return batch.x.contains("latent");
  };
  CHECK(makes_latent());
  pipeline->call_layer_hook(Hook::train_start);
  CHECK_FALSE(makes_latent());
  pipeline->call_layer_hook(Hook::train_epoch_end);
  CHECK(makes_latent());
}

TEST_CASE("spans tell where the time of a build went, as a trace that viewers open") {
  std::vector<BuildSpan> spans;
  CompileOptions options = with_threads(2);
  options.spans = &spans;
  (void)compile(fake::scenario({fake::layer(fake::Opaque{}, {"features"}, {"latent"})}), options);
  std::vector<std::string> categories;
  for (const BuildSpan& span : spans) categories.push_back(span.category);
  CHECK(categories == std::vector<std::string>{"check", "build", "try"});
  Diagnostics problems;
  const Value trace = parse_json(build_trace(spans), "trace.json", problems);
  CHECK(problems.empty());
  CHECK(trace.at("traceEvents").items()[1].at("name").as_string() == "Main/00_Opaque");
}
