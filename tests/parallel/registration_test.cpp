// Threads that scan the same roots and load the same libraries at one time, each into a registry of its own;
// also under the thread sanitizer.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "discovery/test_tree.h"
#include "loading/library_loader.h"

using namespace nexuml;
using namespace nexuml::test;

TEST_CASE(
    "threads that load one library at the same time register it once each, and the copy is shadowed for "
    "all") {
  TestTree tree;
  tree.copy_fixture("good", "copy");
  fs::create_directory_symlink(TestTree::fixture_root("good"), tree.path("link"));
  const SearchOptions search{.roots = {TestTree::fixture_root("good"), TestTree::fixture_root("good"),
                                       tree.path("link"), tree.path("copy")}};
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        LibraryLoader loader(discover(search, empty_environment(tree)), empty_environment(tree));
        Diagnostics problems;
        const bool loaded = loader.load_for({ComponentKind::layer, "gain", "1"}, problems);
        const auto definitions = loader.registry().definitions();
        const bool shadowed_once = codes(loader.catalog().diagnostics()) == std::vector<std::string>{"W601"};
        const bool once = std::ranges::count_if(definitions, [](const auto* entry) {
                            return entry->entry.identity.name == "gain";
                          }) == 1;
        right += loaded && problems.empty() && shadowed_once && once;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 40);
}
