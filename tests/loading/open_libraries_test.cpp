// What stays open, how often, from where, and how long it can be used.
#include <catch2/catch.hpp>
#include <thread>

#include "discovery/elf_facts.h"
#include "discovery/test_tree.h"
#include "loading/library_loader.h"
#include "loading/mapped_files.h"
#include "loading/open_library.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

LibraryLoader loader_over(const TestTree& tree, const std::string& root) {
  return {discover({.roots = {root}}, empty_environment(tree)), empty_environment(tree)};
}

std::string soname_of(const LibraryLoader& loader) {
  const std::string path = loader.catalog().libraries().at(0).origin.path;
  Diagnostics problems;
  const auto facts = read_elf_facts(FileBytes(path), Where::in_file(path), problems);
  return facts ? facts->soname : problems.to_text();
}

// The library in `folder` gives its place to a later version of it, as an installer does it.
void replace_by_later(const TestTree& tree, const std::string& folder) {
  tree.copy_fixture("good_1_10", "later");
  std::string manifest = read_bytes(tree.path("later/test.good/test_good_1_10.nexuml.json"));
  const std::string name = "libtest_good_1_10.so";
  manifest.replace(manifest.find(name), name.size(), "libtest_good.so");
  fs::rename(tree.path("later/test.good/" + name), tree.path(folder + "/libtest_good.so"));
  fs::rename(tree.write("later/manifest", manifest), tree.path(folder + "/test_good.nexuml.json"));
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

TEST_CASE("a library that was replaced after this process opened it is an error, not the old code") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  LibraryLoader before = loader_over(tree, tree.path("root"));
  Diagnostics problems;
  REQUIRE(before.load_for(kGain, problems));
  replace_by_later(tree, "root/test.good");
  LibraryLoader after = loader_over(tree, tree.path("root"));
  INFO(after.catalog().diagnostics().to_text());
  REQUIRE(after.catalog().library("test.good")->origin.version == "1.10.0");
  CHECK_FALSE(after.load_for(kGain, problems));
  CHECK(codes(problems) == std::vector<std::string>{"E410"});
  CHECK_THAT(problems.to_text(), Catch::Contains("has been replaced since") &&
                                     Catch::Contains("start a new process") &&
                                     Catch::Contains("test.good/libtest_good.so"));
  CHECK(after.registry().definitions().empty());
  CHECK(before.registry().layer("gain", {{"factor", 3}}).params().at("factor") == Value(3.0));
}

TEST_CASE("a file that was not opened may be replaced before it is") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  LibraryLoader before = loader_over(tree, tree.path("root"));
  replace_by_later(tree, "root/test.good");
  LibraryLoader after = loader_over(tree, tree.path("root"));
  Diagnostics problems;
  CHECK(after.load_for(kGain, problems));
  CHECK(problems.to_text() == "");
}

TEST_CASE("of two copies of a library only the first is ever opened") {
  TestTree tree;
  tree.copy_fixture("good", "first");
  tree.copy_fixture("good", "second");
  LibraryLoader loader(
      discover({.roots = {tree.path("first"), tree.path("second")}}, empty_environment(tree)),
      empty_environment(tree));
  Diagnostics problems;
  loader.load_all(problems);
  REQUIRE(loader.registry().find(kGain));
  CHECK(is_mapped(tree.path("first/test.good/libtest_good.so")));
  CHECK_FALSE(is_mapped(tree.path("second/test.good/libtest_good.so")));
}

TEST_CASE("a library opens from a path with blanks, a newline and letters of any script") {
  TestTree tree;
  for (const char* folder : {"a b", "Gr\xc3\xbc\xc3\x9f", "line\nbreak", "\xe5\xb1\xa4 \xe9\x9f\xb3"}) {
    INFO(folder);
    tree.copy_fixture("good", folder);
    LibraryLoader loader = loader_over(tree, tree.path(folder));
    Diagnostics problems;
    CHECK(loader.load_for(kGain, problems));
    CHECK(problems.to_text() == "");
    CHECK(loader.registry().layer("gain", {{"factor", 3}}).params().at("factor") == Value(3.0));
  }
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

TEST_CASE(
    "two versions of one library, of one SONAME even, are open in one process, and each keeps its types") {
  TestTree tree;
  LibraryLoader older = loader_over(tree, TestTree::fixture_root("good"));
  LibraryLoader newer = loader_over(tree, TestTree::fixture_root("good_1_10"));
  CHECK(soname_of(older) == "libtest_good-1.0.0.so");
  CHECK(soname_of(newer) == soname_of(older));
  Diagnostics problems;
  REQUIRE((older.load_all(problems), newer.load_all(problems), problems.empty()));
  CHECK(older.registry().definitions()[0]->origin.version == "1.0.0");
  CHECK(newer.registry().definitions()[0]->origin.version == "1.10.0");
  CHECK(older.registry().definitions()[0]->entry.tag != newer.registry().definitions()[0]->entry.tag);
}
