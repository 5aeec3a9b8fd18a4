#include "discovery/search.h"

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"
#include "discovery/version_order.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

std::vector<std::string> paths(const std::vector<SearchPlace>& places) {
  std::vector<std::string> result;
  for (const auto& place : places) result.push_back(place.path);
  return result;
}

}  // namespace

TEST_CASE("places come in one order: shipped, entry points, configured, added, command line") {
  TestTree tree;
  Environment environment = empty_environment(tree);
  environment.variables = {{"HOME", tree.path("home")},
                           {"NEXUML_PREFIX_PATH", "/p1:/p2"},
                           {"NEXUML_ADD_COMPONENT_PATH", "/added"}};
  tree.write("home/.config/nexuml/libraries.json", R"({"roots": ["/configured", "~/mine", ""]})");
  Diagnostics problems;
  const auto places = search_places(environment, {.roots = {"/r1", "/r2"}, .prefixes = {"/p3"}}, problems);
  CHECK(problems.empty());
  CHECK(paths(places) == std::vector<std::string>{
                             tree.path("host/lib/nexuml/components"),
                             tree.path("host/share/nexuml/entry_points.d"), "/p1/share/nexuml/entry_points.d",
                             "/p2/share/nexuml/entry_points.d", "/p3/share/nexuml/entry_points.d",
                             "/configured", tree.path("home/mine"), "/added", "/r1", "/r2"});
}

TEST_CASE("NEXUML_COMPONENT_PATH takes the place of the configured roots") {
  TestTree tree;
  Environment environment = empty_environment(tree);
  environment.variables = {{"XDG_CONFIG_HOME", tree.path("config")}, {"NEXUML_COMPONENT_PATH", "/a::/b"}};
  tree.write("config/nexuml/libraries.json", R"({"roots": ["/configured"]})");
  Diagnostics problems;
  const auto found = paths(search_places(environment, {}, problems));
  CHECK(std::vector(found.begin() + 2, found.end()) == std::vector<std::string>{"/a", "/b"});
}

TEST_CASE("builtin only means the shipped libraries and nothing else") {
  TestTree tree;
  Environment environment = empty_environment(tree);
  environment.variables = {{"NEXUML_ADD_COMPONENT_PATH", "/added"}};
  Diagnostics problems;
  CHECK(search_places(environment, {.roots = {"/r"}, .builtin_only = true}, problems).size() == 1);
}

TEST_CASE("damaged roots are left out with a warning") {
  TestTree tree;
  for (const char* text : {"", "{", "[]", R"({"roots": "a"})", R"({"roots": [1]})"}) {
    const std::string path = tree.write("libraries.json", text);
    Diagnostics problems;
    CHECK(LibraryConfig::read(path, problems).roots.empty());
    CHECK(codes(problems) == std::vector<std::string>{"W107"});
  }
}

TEST_CASE("roots that are written are the roots that are read") {
  TestTree tree;
  const LibraryConfig config{{"/a b/ü", "/c"}};
  config.write(tree.path("new/folder/libraries.json"));
  Diagnostics problems;
  CHECK(LibraryConfig::read(tree.path("new/folder/libraries.json"), problems).roots == config.roots);
}

TEST_CASE("versions are ordered by the value of their numbers, a pre-release before its release") {
  const std::vector<std::string> ordered{"0.9", "1",    "1.0-rc1",   "1.0", "1.0.1",
                                         "1.2", "1.10", "2.0-alpha", "2.0"};
  for (std::size_t left = 0; left < ordered.size(); ++left) {
    for (std::size_t right = 0; right < ordered.size(); ++right) {
      if (ordered[left] == "1" || ordered[right] == "1") continue;  // a prefix of all of its releases
      INFO(ordered[left] << " " << ordered[right]);
      CHECK(version_less(ordered[left], ordered[right]) == (left < right));
    }
  }
}
