// What remains of a document with mistakes.
#include "scenario/readable_part.h"

#include <catch2/catch.hpp>

using namespace nexuml;

namespace {

const Identity stand_in{ComponentKind::layer, "stand_in", "1"};

const char* const text =
    "name: n\n"
    "pipeline:\n"
    "  stages:\n"
    "    Main:\n"
    "    - component: {type: A, version: '1', params: {size: 1}}\n"
    "      keys_in: [x]\n"
    "      keys_out: [a]\n"
    "    - component: {type: B, version: '1', params: {}}\n"
    "      keys_outs: [b]\n"
    "training:\n"
    "  lr: 0.1\n"
    "  optimizer: {factory: 'm:Adam', args: [], kwargs: {lr: 1, beta: 2}}\n"
    "callbacks:\n"
    "- {factory: 'm:Stop', kwargs: {}}\n";

Value document() {
  Diagnostics problems;
  return parse_yaml(text, "s.yaml", problems);
}

std::optional<Value> rest_after(std::initializer_list<std::pair<const char*, const char*>> mistakes) {
  Diagnostics found;
  for (const auto& [code, path] : mistakes) found.error(code, "wrong", Where({}, path));
  return readable_part(document(), found, stand_in);
}

const Value& layer(const Value& rest, std::size_t index) {
  return rest.at("pipeline").at("stages").at("Main").items()[index];
}

}  // namespace

TEST_CASE("a layer whose component is wrong keeps its keys, with a stand-in for the component") {
  const auto rest = rest_after({{"E712", "pipeline.stages.Main[0].component.params.size"}});
  REQUIRE(rest);
  CHECK(layer(*rest, 0).at("component").at("type") == Value("stand_in"));
  CHECK(layer(*rest, 0).at("keys_out") == Value::list({"a"}));
  CHECK(layer(*rest, 1).at("component").at("type") == Value("B"));
}

TEST_CASE("nothing is said of a rest in which the keys of a layer are in doubt") {
  CHECK_FALSE(rest_after({{"E710", "pipeline.stages.Main[1].keys_outs"}}));
  CHECK_FALSE(rest_after({{"E712", "pipeline.stages.Main[0].keys_in"}}));
  CHECK_FALSE(rest_after({{"E712", "pipeline.stages"}}));
  CHECK_FALSE(rest_after({{"E711", "name"}}));
}

TEST_CASE(
    "elsewhere the smallest entry that holds a mistake is left out, a component or factory as a whole") {
  const auto rest =
      rest_after({{"E710", "training.optimizer.kwargs.beta"}, {"E733", "callbacks[0].factory"}});
  REQUIRE(rest);
  const Value& optimizer = rest->at("training").at("optimizer");
  CHECK(optimizer.at("kwargs") == Value::map({{"lr", 1}}));
  CHECK_FALSE(rest->find("callbacks"));

  const auto without =
      rest_after({{"E733", "training.optimizer.factory"}, {"E734", "training.optimizer.kwargs.lr"}});
  REQUIRE(without);
  CHECK(without->at("training") == Value::map({{"lr", 0.1}}));
}
