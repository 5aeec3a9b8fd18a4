#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

using Words = std::vector<std::string>;

HostRun new_library(const TestTree& tree, Words arguments) {
  arguments.insert(arguments.begin(), {"new", "library"});
  return run_host(tree, arguments);
}

bool exists(const TestTree& tree, const std::string& name) {
  return fs::exists(tree.path(name));
}

std::string text_of(const TestTree& tree, const std::string& name) {
  return read_bytes(tree.path(name));
}

// Refused as a wrong command line with `words`, and nothing is left behind.
void check_refused(Words arguments, const std::string& words) {
  TestTree tree;
  const HostRun run = new_library(tree, arguments);
  INFO(arguments.front() << " " << arguments.back() << "\n" << run.all());
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Catch::Contains("E881") && Catch::Contains(words));
  CHECK(!exists(tree, arguments.front()));
}

}  // namespace

TEST_CASE("a new library without options has one layer, a scenario that uses it, a README and a build file") {
  TestTree tree;
  const HostRun run = new_library(tree, {"acme"});
  INFO(run.all());
  CHECK(run.exit_code == 0);
  for (const char* file : {"CMakeLists.txt", "README.md", ".github/workflows/build.yml", "src/library.cpp",
                           "src/scaled.h", "src/scaled.cpp", "scenarios/acme-demo.yaml"}) {
    INFO(file);
    CHECK(exists(tree, std::string("acme/") + file));
    CHECK_THAT(run.out, Catch::Contains(std::string("acme/") + file));
  }
  CHECK_THAT(
      text_of(tree, "acme/src/library.cpp"),
      Catch::Contains("#include \"scaled.h\"") && Catch::Contains("registry.add<acme::Scaled>(\"Scaled\");"));
  CHECK_THAT(text_of(tree, "acme/scenarios/acme-demo.yaml"), Catch::Contains("type: Scaled"));
  CHECK_THAT(text_of(tree, "acme/README.md"), Catch::StartsWith("# acme\n"));
  CHECK_THAT(text_of(tree, "acme/.github/workflows/build.yml"), Catch::Contains("ctest --test-dir build"));
  for (const auto& entry : fs::recursive_directory_iterator(tree.path("acme")))
    if (entry.is_regular_file()) CHECK_THAT(read_bytes(entry.path().string()), !Catch::Contains("@NAME@"));
}

TEST_CASE("options of a new library may be repeated, and each names one part") {
  TestTree tree;
  const HostRun run = new_library(tree, {"acme/", "--layer", "first", "--layer", "second_one", "--data",
                                         "tones", "--target", "SoftClip", "--target", "HardClip"});
  INFO(run.all());
  REQUIRE(run.exit_code == 0);
  for (const char* file : {"first", "second_one", "tones", "soft_clip", "hard_clip"})
    for (const char* extension : {".h", ".cpp"})
      CHECK(exists(tree, std::string("acme/src/") + file + extension));
  CHECK(!exists(tree, "acme/src/scaled.cpp"));
  CHECK_THAT(text_of(tree, "acme/src/library.cpp"),
             Catch::Contains("registry.add<acme::First>(\"first\");") &&
                 Catch::Contains("registry.add<acme::SecondOne>(\"second_one\");") &&
                 Catch::Contains("registry.add<acme::Tones>(\"tones\");") &&
                 Catch::Contains("registry.add_target<acme::SoftClip>(\"acme.modules:SoftClip\");") &&
                 Catch::Contains("registry.add_target<acme::HardClip>(\"acme.modules:HardClip\");"));
  CHECK_THAT(text_of(tree, "acme/scenarios/acme-demo.yaml"), Catch::Contains("type: first"));
}

TEST_CASE("a new library is not written over what is there") {
  TestTree tree;
  tree.write("acme/notes.txt", "mine");
  const HostRun run = new_library(tree, {"acme"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Catch::Contains("E881") && Catch::Contains("acme exists already"));
  CHECK(std::distance(fs::directory_iterator(tree.path("acme")), fs::directory_iterator()) == 1);
  tree.write("file", "mine");
  CHECK(new_library(tree, {"file"}).exit_code == 2);
}

TEST_CASE("names of which no project could be built are refused, and nothing is written") {
  for (const char* name : {"int", "default", "co_await"}) check_refused({name}, "a keyword of C++");
  for (const char* name : {"linux", "stdout"}) check_refused({name}, "a macro");
  for (const char* name : {"std", "nexuml", "torch", "at"}) check_refused({name}, "a namespace");
  for (const char* name : {"signal", "log", "time", "index"}) check_refused({name}, "a function of C");
  for (const char* name : {"all", "clean", "install", "help", "test", "package", "ALL_BUILD", "RUN_TESTS"})
    check_refused({name}, "a target that CMake makes itself");
  check_refused({"a__b"}, "reserved for the compiler");
  for (const char* name : {"2fast", "my-library", "a.b", "ä"}) check_refused({name}, "cannot be a name");

  for (const char* option : {"--layer", "--data", "--eval", "--loader", "--target"}) {
    check_refused({"acme", option, "template"}, "'template' cannot be a name: it is a keyword of C++");
    check_refused({"acme", option, "NULL"}, "a macro");
    check_refused({"acme", option, "no name"}, "cannot be a name");
  }
}

TEST_CASE("parts of a new library that would stand in one file are refused, and nothing is written") {
  for (const char* option : {"--layer", "--data", "--eval", "--loader", "--target"})
    for (const char* name : {"library", "Library", "library_"})
      check_refused({"acme", option, name}, "src/library.cpp registers the parts");
  check_refused({"acme", "--layer", "smooth", "--layer", "smooth"}, "two parts would stand in");
  check_refused({"acme", "--layer", "smooth_tone", "--eval", "SmoothTone"}, "two parts would stand in");
}
