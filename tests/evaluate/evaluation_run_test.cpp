// What a scenario says of its evaluation algorithms reaches them.
#include "evaluate/evaluation_run.h"

#include <nexuml/registration.h>

#include <catch2/catch.hpp>
#include <filesystem>

namespace nexuml {
namespace {

// What the algorithms of one run were told, in order.
std::vector<std::string>& told() {
  static std::vector<std::string> events;
  return events;
}

struct TellingEvaluation {
  bool fits = false;

  static void describe(Schema<TellingEvaluation>& s) { s.field("fits", &TellingEvaluation::fits); }
  std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext& context) const {
    class Telling final : public EvalAlgorithm {
     public:
      Telling(bool fits, const EvalBuildContext& context) : fits_(fits), name_(context.name) {
        for (const AxisKeySpec& axis : context.axis_keys) told().push_back(axis.source + ":" + axis.key);
      }
      bool needs_fit() const override { return fits_; }
      void fit_batch(const EvalBatch&) override { told().push_back(name_ + " fits"); }
      void fit_end() override { told().push_back(name_ + " fitted"); }
      void eval_batch(const EvalBatch&) override { told().push_back(name_ + " evaluates"); }
      void eval_end() override { told().push_back(name_ + " evaluated"); }
      OrderedMap<double> results() const override { return {{"area", 0.5}, {"count", 3}}; }

     private:
      bool fits_;
      std::string name_;
    };
    return std::make_shared<Telling>(fits, context);
  }
};

ComponentRegistry telling_components() {
  return ComponentRegistry().with_program([](Registration& r) { r.add<TellingEvaluation>("telling"); });
}

OrderedMap<double> numbers_of(const EvaluationSpec& spec) {
  told().clear();
  const ComponentRegistry registry = telling_components();
  EvaluationRun run(spec, EvalBuildContext{}, registry);
  const TensorDict x;
  if (run.needs_fit()) {
    run.fit_batch({.x = x, .size = 1});
    run.fit_end();
  }
  run.eval_batch({.x = x, .size = 1});
  return run.finish();
}

}  // namespace

TEST_CASE("an algorithm that is not enabled does nothing") {
  EvaluationSpec spec;
  spec.algorithms = {{.algorithm = TellingEvaluation{.fits = true}, .name = "off", .enabled = false},
                     {.algorithm = TellingEvaluation{}, .name = "on"}};
  const OrderedMap<double> numbers = numbers_of(spec);
  CHECK(numbers == OrderedMap<double>{{"eval/on/area", 0.5}, {"eval/on/count", 3}});
  CHECK(told() == std::vector<std::string>{"on evaluates", "on evaluated"});
}

TEST_CASE("the files of an algorithm stay below the run, whatever its name holds") {
  std::string pattern = (std::filesystem::temp_directory_path() / "nexuml-evaluation-XXXXXX").string();
  const std::filesystem::path root = ::mkdtemp(pattern.data());
  EvaluationSpec spec;
  spec.algorithms = {{.algorithm = TellingEvaluation{}, .name = "../../outside"},
                     {.algorithm = TellingEvaluation{}, .name = "a/b"}};
  const ComponentRegistry registry = telling_components();
  EvaluationRun run(spec, EvalBuildContext{.run_folder = root / "run"}, registry);
  run.finish();
  CHECK(std::filesystem::is_directory(root / "run/evaluation/a_b"));
  CHECK(std::distance(std::filesystem::directory_iterator(root), {}) == 1);
  CHECK(std::distance(std::filesystem::directory_iterator(root / "run/evaluation"), {}) == 2);
  std::filesystem::remove_all(root);
}

TEST_CASE("algorithms that fit see the training rows first, and others do not") {
  EvaluationSpec spec;
  spec.algorithms = {{.algorithm = TellingEvaluation{.fits = true}, .name = "a"},
                     {.algorithm = TellingEvaluation{}, .name = "b"}};
  numbers_of(spec);
  CHECK(told() == std::vector<std::string>{"a fits", "a fitted", "a evaluates", "b evaluates", "a evaluated",
                                           "b evaluated"});
}

TEST_CASE("axis keys reach their algorithm with the place that they are read from") {
  EvaluationSpec spec;
  spec.algorithms = {{.algorithm = TellingEvaluation{},
                      .axis_keys = {AxisKeySpec{.key = "machine", .source = "metadata"}, "section"}}};
  numbers_of(spec);
  REQUIRE(told().size() > 2);
  CHECK(told()[0] == "metadata:machine");
  CHECK(told()[1] == "y:section");
}

TEST_CASE(
    "test_result_metrics mirrors numbers among those of the test: all, none, by key or by name and key") {
  EvaluationSpec spec;
  spec.algorithms = {{.algorithm = TellingEvaluation{}, .name = "a"},
                     {.algorithm = TellingEvaluation{}, .name = "b"}};
  const auto mirrored = [&](std::variant<Keys, std::string> wanted) {
    spec.test_result_metrics = std::move(wanted);
    Keys names;
    for (const auto& [name, value] : numbers_of(spec))
      if (name.starts_with("test/")) names.push_back(name);
    return names;
  };
  CHECK(mirrored("none").empty());
  CHECK(mirrored("all") == Keys{"test/a/area", "test/a/count", "test/b/area", "test/b/count"});
  CHECK(mirrored(Keys{"area"}) == Keys{"test/a/area", "test/b/area"});
  CHECK(mirrored(Keys{"b/count"}) == Keys{"test/b/count"});
}

}  // namespace nexuml
