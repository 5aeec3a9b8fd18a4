#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>

#include "cli/run_host.h"
#include "sanitizer.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

// A group whose rights this process can give to a program and that is not its own.
std::optional<gid_t> another_group() {
  if (::geteuid() == 0) return 65534;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  ::getgroups(static_cast<int>(groups.size()), groups.data());
  for (const gid_t group : groups)
    if (group != ::getegid()) return group;
  return std::nullopt;
}

// Whether a program here gets the rights that a mark on its file gives.
bool obeys_marks(const TestTree& tree) {
  struct statvfs volume {};
  return ::statvfs(tree.path().c_str(), &volume) == 0 && (volume.f_flag & ST_NOSUID) == 0 &&
         ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

}  // namespace

TEST_CASE("doctor opens every library in a process of its own, and its report is complete") {
  TestTree tree;
  std::vector<std::string> arguments{"doctor", "--timeout", "500"};
  for (const char* folder : {"abort_in_static_init", "good", "sleeps_for_ever", "throws", "alpha"}) {
    arguments.insert(arguments.end(), {"--root", TestTree::fixture_root(folder)});
  }
  const auto start = std::chrono::steady_clock::now();
  const HostRun run = run_host(tree, arguments);
  INFO(run.all());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20) * kSlowdown);
  CHECK(run.exit_code == 3);
  for (const char* code : {"E405", "E406", "E407"}) CHECK_THAT(run.out, Catch::Contains(code));
  CHECK_THAT(run.out, Catch::Contains("OK     test.good") && Catch::Contains("OK     org.example.alpha"));
  CHECK_THAT(run.out, Catch::Contains("ended its process with SIGABRT"));
  CHECK_THAT(run.out, Catch::Contains("3 problems"));
}

TEST_CASE("doctor goes on with the next library after one that ended the process that opens them") {
  TestTree tree;
  const HostRun run = run_host(tree, {"doctor", "--root", TestTree::fixture_root("kills_the_worker"),
                                      "--root", TestTree::fixture_root("needs_a_licence")});
  INFO(run.all());
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.out, Catch::Contains("ERROR  test.kills_the_worker") &&
                          Catch::Contains("ended with SIGKILL") &&
                          Catch::Contains("OK     test.needs_a_licence") && Catch::Contains("1 problem"));
  CHECK_THAT(run.all(), !Catch::Contains("E401"));
}

TEST_CASE("doctor tells why a library is not used, and needs nobody to tell it that it was mended") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  const std::string library = "root/test.good/libtest_good.so", whole = read_bytes(tree.path(library));
  tree.write(library, whole.substr(0, 3000));
  const HostRun cut = run_host(tree, {"doctor", "--root", "root"});
  INFO(cut.all());
  CHECK(cut.exit_code == 3);
  CHECK_THAT(cut.out, Catch::Contains("broken: ") && Catch::Contains("cut off"));
  tree.write(library, whole);
  const HostRun mended = run_host(tree, {"doctor", "--root", "root"});
  INFO(mended.all());
  CHECK(mended.exit_code == 0);
  CHECK_THAT(mended.out, Catch::Contains("OK     test.good"));
}

TEST_CASE("doctor names every library of a circle of requirements") {
  TestTree tree;
  const HostRun run = run_host(tree, {"doctor", "--root", TestTree::fixture_root("circle_a"), "--root",
                                      TestTree::fixture_root("circle_b")});
  INFO(run.all());
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.out, Catch::Contains("E504") &&
                          Catch::Contains("test.circle_a requires test.circle_b requires test.circle_a") &&
                          Catch::Contains("test.circle_b requires test.circle_a requires test.circle_b"));
}

TEST_CASE("doctor can look at files only") {
  TestTree tree;
  const HostRun run =
      run_host(tree, {"doctor", "--no-probe", "--root", TestTree::fixture_root("abort_in_static_init")});
  CHECK_THAT(run.out, Catch::Contains("OK     test.abort_in_static_init"));
}

TEST_CASE("a library that misbehaves and is not asked for harms no command") {
  TestTree tree;
  const HostRun run =
      run_host(tree, {"registry", "list", "--json", "--root", TestTree::fixture_root("abort_in_static_init"),
                      "--root", TestTree::fixture_root("good")});
  CHECK(run.exit_code == 0);
  CHECK(run.json().at("diagnostics").size() == 0);
}

TEST_CASE(
    "libraries open and train beside an allocator that is preloaded, and no memory goes to the wrong one") {
  if (kSanitized) {
    WARN("a sanitizer brings an allocator of its own: not tried");
    return;
  }
  TestTree tree;
  // glibc's checking allocator ends a process that gives it a block of another.
  const std::vector<std::string> preloaded{"LD_PRELOAD=libc_malloc_debug.so.0", "MALLOC_CHECK_=3"};
  const HostRun doctor = run_host(tree, {"doctor", "--root", TestTree::fixture_root("good")}, preloaded);
  INFO(doctor.all());
  CHECK(doctor.exit_code == 0);
  CHECK(doctor.err.find("cannot be preloaded") == std::string::npos);
  const HostRun trained =
      run_host(tree, {"train", "synthetic-linear-ae-reconstruction", "--max-epochs", "1", "--run-dir", "run"},
               preloaded);
  INFO(trained.all());
  CHECK(trained.exit_code == 0);
}

TEST_CASE("a host with more rights than its user ignores the environment and the user's configuration") {
  TestTree tree;
  const auto group = another_group();
  if (!group || !obeys_marks(tree)) {
    WARN("no program here can be given the rights of another group: not tried");
    return;
  }
  tree.copy_fixture("good", "added");
  tree.copy_fixture("alpha", "configured");
  tree.write("config/nexuml/libraries.json", R"({"roots": [")" + tree.path("configured") + R"("]})");
  const std::vector<std::string> variables{"NEXUML_ADD_COMPONENT_PATH=" + tree.path("added")};
  const HostRun plain = run_host(tree, {"doctor", "--no-probe"}, variables);
  CHECK_THAT(plain.out, Catch::Contains("OK     test.good") && Catch::Contains("OK     org.example.alpha"));

  const std::string marked = tree.path("nexuml-run");
  fs::copy_file(NEXUML_RUN_PATH, marked);
  REQUIRE(::chown(marked.c_str(), static_cast<uid_t>(-1), *group) == 0);
  REQUIRE(::chmod(marked.c_str(), 02755) == 0);
  const HostRun elevated = run_host(tree, {"doctor", "--no-probe"}, variables, marked);
  INFO(elevated.all());
  CHECK_THAT(elevated.out, Catch::Contains("ignored: this process has more rights than its user") &&
                               !Catch::Contains("test.good") && !Catch::Contains("org.example.alpha"));
  // A root that is named is searched, and its libraries are used where nobody but root can change them.
  tree.copy_fixture("good", "named");
  fs::permissions(tree.path("named"), fs::perms::others_write, fs::perm_options::add);
  const HostRun named = run_host(tree, {"doctor", "--no-probe", "--root", tree.path("named")}, {}, marked);
  INFO(named.all());
  CHECK(named.exit_code == 3);
  CHECK_THAT(named.err, Catch::Contains("E106"));
}
