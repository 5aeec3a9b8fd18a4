#include "discovery/pe_facts.h"

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

std::string dll(const std::string& name) {
  return read_bytes(test_data("pe/" + name + ".dll"));
}

std::optional<PeFacts> facts_of(const std::string& bytes) {
  Diagnostics problems;
  auto facts = read_pe_facts(MemoryBytes(bytes), Where::in_file("lib.dll"), problems);
  CHECK(facts.has_value() == problems.empty());
  return facts;
}

std::string first_code(const std::string& bytes) {
  Diagnostics problems;
  read_pe_facts(MemoryBytes(bytes), {}, problems);
  return problems.empty() ? "" : problems.entries().front().code;
}

}  // namespace

TEST_CASE("the facts of a Windows library are read on any system") {
  const auto facts = facts_of(dll("org_example_windows"));
  REQUIRE(facts);
  CHECK(facts->machine == "x86_64");
  CHECK(facts->name == "org_example_windows.dll");
  CHECK(facts->exported == std::vector<std::string>{"nexuml_library_entry_v1"});
  CHECK(facts->exports_entry);
  CHECK(facts->needed.empty());
  REQUIRE(facts->note);
  CHECK_THAT(*facts->note, Catch::Contains("\"id\":\"org.example.windows\"") &&
                               Catch::Contains("x86_64-windows;libstdcxx-cxx11"));
}

TEST_CASE("what a Windows library imports is named, and one without our section has no note") {
  const auto other = facts_of(dll("no_note"));
  REQUIRE(other);
  CHECK_FALSE(other->note);
  CHECK_FALSE(other->exports_entry);
  const auto needs = facts_of(dll("needs_other"));
  REQUIRE(needs);
  CHECK(needs->needed == std::vector<std::string>{"no_note.dll"});
}

TEST_CASE("a Windows library cut off at any byte of its sections is refused") {
  const std::string bytes = dll("needs_other");
  for (std::size_t size = 0; size < bytes.size(); size += size < 1100 ? 1 : 97) {
    INFO("size " << size);
    const std::string code = first_code(bytes.substr(0, size));
    CHECK((code == "E201" || code == "E202"));
  }
}

TEST_CASE("other files than Windows libraries are told for what they are") {
  CHECK(first_code("") == "E201");
  CHECK(first_code("this is not a library") == "E201");
  std::string program = dll("no_note");
  program[0x80 + 4 + 18 + 1] = static_cast<char>(program[0x80 + 4 + 18 + 1] & ~0x20);  // not a DLL any more
  CHECK(first_code(program) == "E204");
}

TEST_CASE("no flipped byte makes the reader of Windows libraries fail in another way than by a diagnostic") {
  const std::string bytes = dll("needs_other");
  std::uint32_t state = 7;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (int flips = 0; flips < 8; ++flips) {
      state = state * 1664525 + 1013904223;
      damaged[(state >> 8) % (round % 2 ? 1024 : damaged.size())] = static_cast<char>(state);
    }
    facts_of(damaged);
  }
}

TEST_CASE("a Windows library in a root is one line of the report, and no problem") {
  TestTree tree;
  for (const char* name : {"org_example_windows", "no_note"})
    tree.write(std::string("root/") + name + ".dll", dll(name));
  tree.copy_fixture("good", "root/good");
  const auto catalog = discover({.roots = {tree.path("root")}}, empty_environment(tree));
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"W203"});
  CHECK(catalog->diagnostics().entries()[0].severity == Severity::note);
  CHECK_THAT(catalog->diagnostics().to_text(),
             Catch::Contains("org.example.windows 1.2.0 is a library for Windows"));
  CHECK(catalog->libraries().size() == 1);
}

TEST_CASE("a manifest may name a file per system; without one for this system the library is passed over") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  const std::string manifest = "root/test.good/test_good.nexuml.json";
  const std::string text = read_bytes(tree.path(manifest));
  const std::string written = "\"libtest_good.so\"";
  const auto with_path = [&](const std::string& path) {
    std::string changed = text;
    tree.write(manifest, changed.replace(changed.find(written), written.size(), path));
    return discover({.roots = {tree.path("root")}}, empty_environment(tree));
  };
  const auto both = with_path(R"({"windows": "good.dll", "linux": "libtest_good.so"})");
  CHECK(both->diagnostics().empty());
  REQUIRE(both->library("test.good"));
  CHECK(both->library("test.good")->usable());
  const auto one = with_path(R"({"windows": "good.dll"})");
  CHECK(one->libraries().empty());
  CHECK(codes(one->diagnostics()) == std::vector<std::string>{"W203"});
}
