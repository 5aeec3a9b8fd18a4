#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

std::shared_ptr<const Catalog> scan(const TestTree& tree, bool elevated = false) {
  Environment environment = empty_environment(tree);
  environment.elevated = elevated;
  return discover({.roots = {tree.path("root")}}, environment);
}

void let_anybody_write(const std::string& path) {
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
}

}  // namespace

TEST_CASE("a root, a folder or a library that anybody may write to is named, once a place") {
  for (const char* open : {"root", "root/a/test.good", "root/a/test.good/libtest_good.so"}) {
    INFO(open);
    TestTree tree;
    tree.copy_fixture("good", "root/a");
    tree.copy_fixture("alpha", "root/b");
    CHECK(scan(tree)->diagnostics().empty());
    let_anybody_write(tree.path(open));
    const auto catalog = scan(tree);
    CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"W106"});
    CHECK_THAT(catalog->diagnostics().to_text(), Catch::Contains("anybody may write to " + tree.path(open)));
    CHECK(catalog->library("test.good")->usable());
  }
}

TEST_CASE("a folder between a root and a library that anybody may write to is named") {
  TestTree tree;
  tree.copy_fixture("good", "root/a/b");
  let_anybody_write(tree.path("root/a"));
  const auto catalog = scan(tree);
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"W106"});
  CHECK_THAT(catalog->diagnostics().to_text(),
             Catch::Contains("anybody may write to " + tree.path("root/a,")));
}

TEST_CASE("a process with more rights than its user opens nothing that others can change") {
  TestTree tree;
  tree.copy_fixture("good", "above/root/a");
  fs::create_directory_symlink("above/root", tree.path("root"));
  // Only what root owns is trusted by a process whose rights are not those of another user.
  if (::geteuid() == 0) CHECK(scan(tree, true)->library("test.good")->usable());
  for (const char* open : {"above/root/a/test.good", "above/root/a", "above"}) {
    INFO(open);
    const auto before = fs::status(tree.path(open)).permissions();
    let_anybody_write(tree.path(open));
    const auto catalog = scan(tree, true);
    CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E106"});
    CHECK_FALSE(catalog->library("test.good")->usable());
    fs::permissions(tree.path(open), before);
  }
}

TEST_CASE("what belongs to a third user is opened by its caller's rights and by no greater ones") {
  if (::geteuid() != 0) {
    WARN("only root may give a file away: not tried");
    return;
  }
  constexpr uid_t third_user = 65534;
  for (const char* given : {"root", "root/a/test.good", "root/a/test.good/libtest_good.so",
                            "root/a/test.good/test_good.nexuml.json"}) {
    INFO(given);
    TestTree tree;
    tree.copy_fixture("good", "above/a");
    fs::create_directory_symlink("above", tree.path("root"));
    REQUIRE(::lchown(tree.path(given).c_str(), third_user, static_cast<gid_t>(-1)) == 0);
    CHECK(scan(tree)->diagnostics().empty());
    CHECK(scan(tree)->library("test.good")->usable());
    const auto catalog = scan(tree, true);
    CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E106"});
    CHECK_THAT(catalog->diagnostics().to_text(),
               Catch::Contains(tree.path(given) + " belongs to another user"));
    CHECK_FALSE(catalog->library("test.good")->usable());
  }
}
