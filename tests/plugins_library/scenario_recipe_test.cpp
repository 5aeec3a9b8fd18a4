// A pipeline is a model like any other: its recipe is its scenario, and a run of a scenario is a strategy.
#include <nexuml/compile.h>
#include <nexuml/model_recipe.h>
#include <nexuml/recipe_build.h>
#include <nexuml/strategy_recipe.h>

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
  const StrategyParts parts = scenario_parts(scenario, pipeline, shipped_registry());
  const Value dict = checkpoint_spec_dict(parts, shipped_registry());
  const BuiltStrategy built = from_spec_dict(reread(dict), shipped_registry());
  const auto& optimizer = *built.optimizers.at("pipeline_optimizer");
  CHECK(optimizer.groups().front().lr == scenario.training.lr);
  CHECK(optimizer.groups().front().parameters.size() == pipeline->parameters().size());
  CHECK(write_json(checkpoint_spec_dict(parts, shipped_registry(), &dict)) == write_json(dict));
}

TEST_CASE("a pipeline's recipe whose scenario drifted is refused with every difference") {
  const ScenarioSpec scenario = shipped_registry().scenario("synthetic-linear-ae-reconstruction");
  Value recipe = pipeline_recipe(*compiled(scenario), scenario, shipped_registry()).to_value();
  recipe.find("scenario")->find("training")->set("epochs", 3);
  recipe.find("scenario")->find("name")->operator=(Value(3));
  CHECK_THROWS_WITH(create_model_spec_from_json(shipped_registry(), recipe),
                    Contains("E741") && Contains("scenario.training.epochs") && Contains("scenario.name"));
}
