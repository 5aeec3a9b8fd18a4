// Whatever a person does to a scenario file: no crash, and every problem says where it is.
#include <ctime>
#include <random>
#include <sstream>

#include "sanitizer.h"
#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

namespace {

class Editor {
 public:
  explicit Editor(std::uint32_t seed) : random_(seed) {
    std::istringstream text(base_text());
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  void edit() {
    const std::size_t at = below(lines_.size());
    std::string& line = lines_[at];
    switch (below(6)) {
      case 0:
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), lines_[below(lines_.size())]);
        break;
      case 2:
        line.insert(0, below(2) ? "  " : " ");
        break;
      case 3:
        if (line.starts_with(" ")) line.erase(0, 1 + below(2));
        break;
      case 4:
        if (const auto colon = line.find(':'); colon != std::string::npos && colon > 0)
          line[colon - 1] = static_cast<char>('a' + below(26));
        break;
      default:
        if (const auto colon = line.find(": "); colon != std::string::npos)
          line.replace(colon + 2, std::string::npos, tokens[below(std::size(tokens))]);
        else
          line += std::string(" ") + tokens[below(std::size(tokens))];
    }
  }

  std::string text() const {
    std::string joined;
    for (const std::string& line : lines_) joined += line + "\n";
    return joined;
  }
  std::string random_override() {
    static constexpr const char* paths[] = {"training.lr",
                                            "training.optimizer.kwargs.lr",
                                            "training.optimizer.factory",
                                            "training.batch_size",
                                            "pipeline.stages.Encoder[0].component.type",
                                            "pipeline.stages.Encoder[0].component.params.hidden_dims[0]",
                                            "pipeline.stages.Loss[0].keys_in",
                                            "data.loader.backend",
                                            "data.datasets",
                                            "execution.kind",
                                            "logging.mlflow",
                                            "pipeline",
                                            "evaluation.algorithms[0].name",
                                            "callbacks",
                                            "training.scheduler.args[0]"};
    return std::string(paths[below(std::size(paths))]) + "=" + tokens[below(std::size(tokens))];
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  static constexpr const char* tokens[] = {"",
                                           "null",
                                           "0",
                                           "-1",
                                           "1e308",
                                           "3.5",
                                           "true",
                                           "on",
                                           "text",
                                           "'1'",
                                           "[]",
                                           "{}",
                                           "[1, two]",
                                           "{a: 1}",
                                           "{factory: x}",
                                           "{type: torch, version: '1'}",
                                           "torch.nn:ReLU",
                                           "acme.optim:Rateless",
                                           "NnModule",
                                           "Dropout",
                                           "{kind: ray, workers: [1, 2]}",
                                           "{mode: auto}",
                                           "9223372036854775807",
                                           "&a",
                                           "*a",
                                           "- x",
                                           "all"};

  std::mt19937 random_;
  std::vector<std::string> lines_;
};

void must_say_where(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) {
    INFO(problem.to_text());
    REQUIRE(problem.where.line > 0);
    REQUIRE(!problem.where.file.empty());
    REQUIRE(!problem.message.empty());
  }
}

}  // namespace

TEST_CASE(
    "any edit of a scenario file is accepted or refused with places, and what is accepted can be made") {
  std::size_t accepted = 0, refused = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Editor editor(seed);
    for (std::size_t i = 0, edits = 1 + editor.below(3); i < edits; ++i) editor.edit();
    const std::string text = editor.text();
    INFO("seed " << seed << "\n" << text);
    Diagnostics problems;
    Value document = parse_yaml(text, "case.yaml", problems);
    if (!problems.has_errors()) {
      if (seed % 2)
        apply_overrides(document, *schema_of<ScenarioSpec>(), {editor.random_override()}, &registry(),
                        problems);
      const Value scenario = check_scenario(std::move(document), {.names = &registry()}, problems);
      if (!problems.has_errors()) {
        ++accepted;
        const ScenarioSpec spec = materialise(scenario, registry());
        Diagnostics again;
        const Value lowered = check_scenario(write(spec, &registry()), {.names = &registry()}, again);
        REQUIRE(again.empty());
        REQUIRE(lowered == scenario);
      }
    }
    if (problems.has_errors()) ++refused;
    must_say_where(problems);
  }
  CHECK(accepted > 100);
  CHECK(refused > 1000);
}

TEST_CASE("any text given as an override is applied or refused with its place") {
  std::mt19937 random(7);
  constexpr std::string_view letters = "namedt.[]0129=\"'{}, :#*&-\n\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 ? "data." : "name=";
    for (std::size_t i = 0, size = random() % 24; i < size; ++i) text += letters[random() % letters.size()];
    INFO(text);
    Diagnostics problems;
    Value document = Value::map();
    apply_overrides(document, *schema_of<ScenarioSpec>(), {text}, &registry(), problems);
    for (const Diagnostic& problem : problems) {
      REQUIRE(problem.where.line > 0);
      REQUIRE(problem.where.file.starts_with("-O "));
    }
  }
}

TEST_CASE("checking ten thousand layers takes a moment of the processor") {
  constexpr std::size_t layers = 10'000;
  Diagnostics problems;
  Value document = parse_yaml(base_text(), "case.yaml", problems);
  Value& stage = *document.find("pipeline")->find("stages")->find("Encoder");
  const Value layer = stage.items()[0];
  for (std::size_t i = 1; i < layers; ++i) stage.push_back(layer);

  const std::clock_t start = std::clock();
  const Value scenario = check_scenario(std::move(document), {.names = &registry()}, problems);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  REQUIRE(problems.empty());
  CHECK(value_at(scenario, "pipeline.stages.Encoder").size() == layers);
  CHECK(seconds < 0.25 * nexuml::test::kSlowdown);  // 0.05 s on an idle machine
}
