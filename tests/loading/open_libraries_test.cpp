// What stays open, how often, from where, and how long it can be used.
#include <catch2/catch.hpp>
#include <thread>

#include "discovery/test_tree.h"
#include "loading/library_loader.h"
#include "loading/open_library.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

LibraryLoader loader_over(const TestTree& tree, const std::string& root) {
  return {discover({.roots = {root}}, empty_environment(tree)), empty_environment(tree)};
}

const Identity kGain{ComponentKind::layer, "gain", "1"};

}  // namespace

TEST_CASE("a library that is replaced by a renamed file while it is open goes on as it was") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  LibraryLoader loader = loader_over(tree, tree.path("root"));
  Diagnostics problems;
  REQUIRE(loader.load_for(kGain, problems));
  const std::string library = tree.path("root/test.good/libtest_good.so");
  tree.write("root/new", "not even a library");
  fs::rename(tree.path("root/new"), library);
  CHECK(loader.registry().layer("gain", {{"factor", 3}}).params().at("factor") == Value(3.0));
  CHECK_THROWS_AS(loader.registry().layer("gain", {{"factor", -3}}), Error);
  CHECK(codes(loader_over(tree, tree.path("root")).catalog().diagnostics()) ==
        std::vector<std::string>{"E201"});
}

TEST_CASE("what a library made outlives its loader, its registry and its catalog") {
  TestTree tree;
  AnyLayer layer;
  {
    LibraryLoader loader = loader_over(tree, TestTree::fixture_root("good"));
    Diagnostics problems;
    REQUIRE(loader.load_for(kGain, problems));
    layer = loader.registry().layer("gain", {{"factor", 3}});
  }
  const AnyLayer copy = layer;
  CHECK(copy == layer);
  CHECK(copy.params().at("factor") == Value(3.0));
}

TEST_CASE("objects of threads are destroyed when their threads end, also after the loader is gone") {
  TestTree tree;
  std::vector<std::thread> threads;
  std::vector<std::string> names(4);
  {
    LibraryLoader loader = loader_over(tree, TestTree::fixture_root("keeps_thread_locals"));
    Diagnostics problems;
    (void)loader.scenario("counted", Value::map(),
                          problems);  // of this thread, destroyed when the process ends
    REQUIRE(problems.empty());
    for (std::string& name : names)
      threads.emplace_back([&name, registry = loader.registry()] {
        (void)registry.scenario("counted");
        name = registry.scenario("counted").name;
      });
  }
  for (auto& thread : threads) thread.join();
  CHECK(names == std::vector<std::string>(4, "run 2"));
}

TEST_CASE("a private library beside a component library is found wherever the folder lies") {
  TestTree tree;
  tree.copy_fixture("brings_a_library", "here");
  fs::create_directories(tree.path("else"));
  fs::rename(tree.path("here"), tree.path("else/where it was moved"));
  LibraryLoader loader = loader_over(tree, tree.path("else"));
  Diagnostics problems;
  CHECK(loader.load_for({ComponentKind::layer, "brought_7", "1"}, problems));
  CHECK(problems.to_text() == "");
}

TEST_CASE("sixty-four libraries are open in one process beside each other") {
  TestTree tree;
  for (int copy = 0; copy < 64; ++copy) {
    tree.copy_fixture("good", fmt::format("{}", copy));
    Diagnostics problems;
    const auto staged =
        open_library(tree.path(fmt::format("{}/test.good/libtest_good.so", copy)), {}, problems);
    INFO(problems.to_text());
    REQUIRE(staged);
    REQUIRE(staged->definitions.size() == 2);
  }
}

TEST_CASE("two versions of one library are open in one process, and each keeps its own types") {
  TestTree tree;
  LibraryLoader older = loader_over(tree, TestTree::fixture_root("good"));
  LibraryLoader newer = loader_over(tree, TestTree::fixture_root("good_1_10"));
  Diagnostics problems;
  REQUIRE((older.load_all(problems), newer.load_all(problems), problems.empty()));
  CHECK(older.registry().definitions()[0]->origin.version == "1.0.0");
  CHECK(newer.registry().definitions()[0]->origin.version == "1.10.0");
  CHECK(older.registry().definitions()[0]->entry.tag != newer.registry().definitions()[0]->entry.tag);
}
