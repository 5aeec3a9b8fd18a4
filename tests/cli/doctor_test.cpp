#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

TEST_CASE("doctor opens every library in a process of its own, and its report is complete") {
  TestTree tree;
  std::vector<std::string> arguments{"doctor", "--timeout", "500"};
  for (const char* folder : {"abort_in_static_init", "good", "sleeps_for_ever", "throws", "alpha"}) {
    arguments.insert(arguments.end(), {"--root", TestTree::fixture_root(folder)});
  }
  const HostRun run = run_host(tree, arguments);
  INFO(run.all());
  CHECK(run.exit_code == 3);
  for (const char* code : {"E405", "E406", "E407"}) CHECK_THAT(run.out, Catch::Contains(code));
  CHECK_THAT(run.out, Catch::Contains("OK     test.good") && Catch::Contains("OK     org.example.alpha"));
  CHECK_THAT(run.out, Catch::Contains("3 problems"));
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
