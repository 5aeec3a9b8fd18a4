#include "loading/library_loader.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"
#include "loading/open_library.h"
#include "loading/requirement.h"
#include "loading/scenario_source.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

LibraryLoader loader_for(const TestTree& tree, std::vector<std::string> fixtures) {
  SearchOptions options;
  for (const auto& fixture : fixtures) options.roots.push_back(TestTree::fixture_root(fixture));
  return {discover(options, empty_environment(tree)), empty_environment(tree)};
}

Identity layer(const std::string& name) {
  return {ComponentKind::layer, name, "1"};
}

}  // namespace

TEST_CASE("libraries are opened now, locally, for ever, and never with deep binding") {
  CHECK(library_open_flags() == (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

TEST_CASE("only the library that provides what is asked for is opened") {
  TestTree tree;
  auto loader = loader_for(tree, {"good", "alpha", "throws"});
  Diagnostics problems;
  REQUIRE(loader.load_for(layer("gain"), problems));
  CHECK(problems.empty());
  CHECK(loader.registry().find(layer("gain"))->origin.library == "test.good");
  CHECK_FALSE(loader.registry().find(layer("focal_loss")));
  CHECK(loader.registry().definitions().size() == 2);
}

TEST_CASE("what a loaded library registered restores, validates and lowers") {
  TestTree tree;
  auto loader = loader_for(tree, {"good"});
  Diagnostics problems;
  REQUIRE(loader.load_for(layer("gain"), problems));
  const AnyLayer gain = loader.registry().layer("gain", {{"factor", 2}});
  CHECK(loader.registry().lower(gain).at("params").at("factor") == Value(2.0));
  CHECK_THROWS_AS(loader.registry().layer("gain", {{"factor", -2}}), Error);
}

TEST_CASE("a library that throws while it registers leaves nothing behind") {
  TestTree tree;
  auto loader = loader_for(tree, {"throws", "good"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("throws"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E407"});
  CHECK_THAT(problems.to_text(),
             Catch::Contains("no licence file was found") && Catch::Contains("test.throws"));
  CHECK(loader.registry().definitions().empty());
  CHECK(loader.load_for(layer("gain"), problems));
}

TEST_CASE("a library registers what its manifest declares, or nothing") {
  TestTree tree;
  auto loader = loader_for(tree, {"undeclared"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("undeclared"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E502"});
  CHECK_THAT(problems.to_text(), Catch::Contains("declared but not registered: layer/undeclared@1") &&
                                     Catch::Contains("registered but not declared: layer/registered_only@1"));
  CHECK(loader.registry().definitions().empty());
}

TEST_CASE("fields that differ from the declared ones are found by their hash") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  const std::string manifest = "root/test.good/test_good.nexuml.json";
  std::string text = read_bytes(tree.path(manifest));
  const auto hash = text.find("\"hash\":\"") + 8;
  text[hash] = text[hash] == '0' ? '1' : '0';
  tree.write(manifest, text);
  LibraryLoader loader(discover({.roots = {tree.path("root")}}, empty_environment(tree)),
                       empty_environment(tree));
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("gain"), problems));
  CHECK_THAT(problems.to_text(), Catch::Contains("other fields than declared: layer/gain@1"));
}

TEST_CASE("an entry without a table is an error, not a crash") {
  TestTree tree;
  auto loader = loader_for(tree, {"empty_table"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("empty_table"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E404"});
}

TEST_CASE("a library of the first release opens, and so does one whose table has grown since") {
  TestTree tree;
  auto loader = loader_for(tree, {"first_table", "larger_table"});
  Diagnostics problems;
  CHECK(loader.load_for(layer("first_table"), problems));
  CHECK(loader.load_for(layer("larger_table"), problems));
  CHECK(problems.to_text() == "");
}

TEST_CASE("a conflict is an error for who asks for it; the rest of both libraries can be used") {
  TestTree tree;
  auto loader = loader_for(tree, {"alpha", "beta"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("focal_loss"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E501"});
  Diagnostics none;
  CHECK(loader.load_for(layer("beta_only"), none));
  CHECK(none.empty());
  CHECK(loader.registry().find(layer("focal_loss"))->origin.library == "org.example.beta");

  // Loaded all the same, the second is refused whole.
  Diagnostics conflict;
  CHECK_FALSE(loader.load(*loader.catalog().library("org.example.alpha"), conflict));
  CHECK_THAT(conflict.to_text(),
             Catch::Contains("org.example.alpha 1.0.0") && Catch::Contains("org.example.beta 2.1.0"));
  CHECK(loader.registry().definitions().size() == 2);
}

TEST_CASE("loading everything turns failures into warnings") {
  TestTree tree;
  auto loader = loader_for(tree, {"throws", "empty_table", "good"});
  Diagnostics problems;
  loader.load_all(problems);
  CHECK_FALSE(problems.has_errors());
  CHECK(problems.size() == 2);
  CHECK(loader.registry().definitions().size() == 2);
}

TEST_CASE("a library's requirements are loaded first, and what is missing is named") {
  TestTree tree;
  auto loader = loader_for(tree, {"needs_good", "good", "needs_missing"});
  Diagnostics problems;
  REQUIRE(loader.load_for(layer("dependent"), problems));
  CHECK(loader.registry().find(layer("gain")));
  CHECK_FALSE(loader.load_for(layer("orphan"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E503"});
  CHECK_THAT(problems.to_text(), Catch::Contains("test.nowhere"));

  auto newer = LibraryLoader(
      discover({.roots = {TestTree::fixture_root("needs_good"), TestTree::fixture_root("good_1_10")}},
               empty_environment(tree)),
      empty_environment(tree));
  CHECK(newer.load_for(layer("dependent"), problems));
}

TEST_CASE("a circle of requirements is named whole, and nothing on it is opened") {
  TestTree tree;
  auto loader = loader_for(tree, {"circle_a", "circle_b"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("circle_a"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E504"});
  CHECK_THAT(problems.to_text(),
             Catch::Contains("test.circle_a requires test.circle_b requires test.circle_a"));
  CHECK(loader.registry().definitions().empty());
}

TEST_CASE("a requirement of the wrong version names rule, version and place") {
  TestTree tree;
  auto loader = loader_for(tree, {"needs_newer", "good"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("needs_newer"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E505"});
  CHECK_THAT(problems.to_text(), Catch::Contains("test.good >=9, found version 1.0.0 at "));
}

TEST_CASE("a requirement that is there and cannot be used is told with its reason") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  tree.copy_fixture("needs_good", "root/needs_good");
  const std::string library = "root/good/test.good/libtest_good.so";
  tree.write(library, read_bytes(tree.path(library)).substr(0, 3000));
  LibraryLoader loader(discover({.roots = {tree.path("root")}}, empty_environment(tree)),
                       empty_environment(tree));
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("dependent"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E503"});
  CHECK_THAT(problems.to_text(), Catch::Contains("broken") && Catch::Contains("cut off"));
}

TEST_CASE("a requirement that fails while it is loaded comes with its own failure") {
  TestTree tree;
  auto loader = loader_for(tree, {"needs_throws", "throws"});
  Diagnostics problems;
  CHECK_FALSE(loader.load_for(layer("needs_throws"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E407", "E503"});
  CHECK_THAT(problems.to_text(), Catch::Contains("no licence file was found") &&
                                     Catch::Contains("it requires test.throws, which failed to load"));
  CHECK(loader.registry().definitions().empty());
}

TEST_CASE("a library that failed to load before is not tried again") {
  TestTree tree;
  auto loader = loader_for(tree, {"throws"});
  Diagnostics problems, again;
  CHECK_FALSE(loader.load_for(layer("throws"), problems));
  CHECK_FALSE(loader.load_for(layer("throws"), again));
  CHECK(codes(again) == std::vector<std::string>{"E409"});
}

TEST_CASE("a rule over versions holds when each of its terms holds") {
  CHECK(version_meets("1.4.0", ""));
  CHECK(version_meets("1.4.0", ">=1.0 <2"));
  CHECK(version_meets("1.4.0", "=1.4.0"));
  CHECK_FALSE(version_meets("2.0", ">=1.0 <2.0"));
  CHECK_FALSE(version_meets("0.9", ">=1.0"));
  CHECK_FALSE(version_meets("1.0", ">1.0"));
  CHECK(version_meets("1.0", "1.0"));
}

TEST_CASE("a scenario function may ask for components of other libraries") {
  TestTree tree;
  auto loader = loader_for(tree, {"needs_good", "good"});
  Diagnostics problems;
  const ScenarioSpec scenario = loader.scenario("borrowed", Value::map(), problems);
  CHECK(problems.empty());
  CHECK(loader.registry().identity_of(scenario.pipeline.stages.at("Main")[0].component) == layer("gain"));
}

TEST_CASE("a file that the system cannot open gives the system's words") {
  TestTree tree;
  const std::string path = tree.write("lib.so", "not a library");
  Diagnostics problems;
  CHECK_FALSE(open_shared(path, Where::in_file(path), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E402"});
  CHECK_THAT(problems.to_text(), Catch::Contains("invalid ELF header") || Catch::Contains("file too short"));
}

TEST_CASE("a library that needs LibTorch says what was looked for when there is none") {
  TestTree tree;
  LibraryLoader loader(discover({}, empty_environment(tree)), empty_environment(tree));
  Diagnostics problems;
  CHECK_FALSE(loader.open_runtime(problems));
  CHECK(codes(problems) == std::vector<std::string>{"E408"});
  CHECK_THAT(problems.to_text(),
             Catch::Contains("NEXUML_LIBTORCH") && Catch::Contains("etc/nexuml/libtorch.json"));
}
