// A pipeline is a model like any other: its recipe is its scenario, and a run of a scenario is a strategy.
#include <nexuml/compile.h>
#include <nexuml/model_recipe.h>
#include <nexuml/recipe_build.h>

#include "checkpoint/small_checkpoint.h"
#include "plugins_library/shipped_registry.h"
#include "train/scenario_parts.h"

using namespace library_tests;
using namespace nexuml;
using Catch::Contains;

namespace {

std::shared_ptr<CompiledPipeline> compiled(const ScenarioSpec& scenario) {
  CompileOptions options;
  options.registry = shipped_registry();
  return compile(CompileInput(scenario), options);
}

Value reread(const Value& value) {
  Diagnostics problems;
  Value result = parse_json(write_json(value), "strategy.json", problems);
  REQUIRE_FALSE(problems.has_errors());
  return result;
}

}  // namespace

TEST_CASE("a compiled pipeline is rebuilt from its recipe alone") {
  const std::string name = GENERATE(as<std::string>{}, "synthetic-linear-ae-reconstruction",
                                    "synthetic-linear-ae-multiclass", "synthetic-linear-ae-regression");
  CAPTURE(name);
  const ScenarioSpec scenario = shipped_registry().scenario(name);
  const auto pipeline = compiled(scenario);
  const Recipe recipe = pipeline_recipe(*pipeline, scenario, shipped_registry());
  CHECK(recipe.to_value().at("cls_path") == Value("nexuml.pipeline.CompiledPipeline"));
  const Recipe again = create_model_spec_from_json(shipped_registry(), recipe.to_json(), "pipeline.json");
  CHECK(again == recipe);
  CHECK(again.to_json() == recipe.to_json());
  CHECK_NOTHROW(verify_model_recipe(*pipeline, again, shipped_registry()));
}

TEST_CASE("a scenario's strategy goes through its dict: pipeline, optimizer and scheduler") {
  const ScenarioSpec scenario = shipped_registry().scenario("synthetic-linear-ae-reconstruction");
  const auto pipeline = compiled(scenario);
  const TrainingStrategy strategy = scenario_strategy(scenario, pipeline, shipped_registry(), 5);
  const Value dict = strategy.checkpoint_spec_dict();
  const TrainingStrategy built = TrainingStrategy::from_spec_dict(reread(dict), shipped_registry());
  const Optimizer& optimizer = built.optimizer("pipeline_optimizer");
  CHECK(built.length() == TrainingLength{scenario.training.max_epochs, 5});
  CHECK(optimizer.groups().front().lr == scenario.training.lr);
  CHECK(optimizer.groups().front().parameters.size() == pipeline->parameters().size());
  CHECK(write_json(strategy.checkpoint_spec_dict(&dict)) == write_json(dict));
}

TEST_CASE("a run of a scenario is loaded as a strategy, and what that saves is a run's checkpoint again") {
  const std::string run = NEXUML_TEST_DATA "/checkpoints/format-1";
  Diagnostics warnings;  // the libraries were built again since
  const TrainingStrategy strategy =
      TrainingStrategy::load_checkpoint(run, shipped_registry(), {.warnings = &warnings});
  CHECK(strategy.counters.epoch == 1);
  CHECK(strategy.counters.global_step == 9);
  CHECK(dynamic_cast<CompiledPipeline&>(strategy.model("pipeline")).layers().size() > 2);
  CHECK(strategy.optimizer().groups().front().lr == 0.001);

  const test::ScratchFolder folder;
  const std::string saved = folder.path / std::to_string(strategy.save_checkpoint(folder.path));
  const auto bytes = [](const std::string& file) { return test::bytes_of_file(file); };
  for (const std::string name : {"model.safetensors", "recipe.json", "trainer.safetensors", "trainer.json"}) {
    INFO(name);
    if (name == "trainer.json")  // the callbacks of the run, which had no state, are no part of it
      CHECK(bytes(saved + "/" + name).size() > 100);
    else
      CHECK((bytes(saved + "/" + name) == bytes(run + "/checkpoints/0/" + name)));
  }
}

TEST_CASE("a pipeline's recipe whose scenario drifted is refused with every difference") {
  const ScenarioSpec scenario = shipped_registry().scenario("synthetic-linear-ae-reconstruction");
  Value recipe = pipeline_recipe(*compiled(scenario), scenario, shipped_registry()).to_value();
  recipe.find("scenario")->find("training")->set("epochs", 3);
  recipe.find("scenario")->find("name")->operator=(Value(3));
  CHECK_THROWS_WITH(create_model_spec_from_json(shipped_registry(), recipe),
                    Contains("E741") && Contains("scenario.training.epochs") && Contains("scenario.name"));
}
