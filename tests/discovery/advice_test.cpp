#include "discovery/advice.h"

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

Diagnostics advice_about(const std::string& fixture) {
  const std::string bytes =
      read_bytes(TestTree::fixture_root(fixture) + "/test." + fixture + "/libtest_" + fixture + ".so");
  Diagnostics problems;
  const auto facts = read_elf_facts(MemoryBytes(bytes), {}, problems);
  REQUIRE(facts);
  advise(*facts, read_undefined_symbols(MemoryBytes(bytes)), Where::in_file(fixture), problems);
  return problems;
}

}  // namespace

TEST_CASE("a good library needs no advice") {
  CHECK(advice_about("good").empty());
}

TEST_CASE("thread-local storage at a fixed place is worth a word") {
  CHECK(codes(advice_about("static_tls")) == std::vector<std::string>{"W602"});
}

TEST_CASE("a symbol beside the entry is worth a word, by its name") {
  const Diagnostics problems = advice_about("exports_more");
  CHECK(codes(problems) == std::vector<std::string>{"W603"});
  CHECK_THAT(problems.to_text(), Catch::Contains("deflate_everything"));
}

TEST_CASE("a second OpenMP is worth a word") {
  ElfFacts facts;
  facts.needed = {"libtorch_cpu.so", "libgomp.so.1", "libstdc++.so.6"};
  Diagnostics problems;
  advise(facts, {}, {}, problems);
  CHECK(codes(problems) == std::vector<std::string>{"W604"});
}

TEST_CASE("a library of the process that is linked in once more is worth a word, by its name") {
  const auto told = [](const std::string& symbol) {
    ElfFacts facts;
    facts.exported = {"nexuml_library_entry_v1", symbol};
    Diagnostics problems;
    advise(facts, {}, {}, problems);
    return problems.to_text();
  };
  CHECK_THAT(told("_ZN2at4_ops3add4callERKNS_6TensorE"),
             Catch::Contains("W607") && Catch::Contains("LibTorch"));
  CHECK_THAT(told("_ZN3tbb6detail2r15spawnERNS0_2d14taskE"), Catch::Contains("W607: a copy of oneTBB"));
  // What headers define inline is no copy.
  CHECK_THAT(told("_ZN3c1013intrusive_ptrIvE5resetEv"), Catch::Contains("W603") && !Catch::Contains("W607"));
}

TEST_CASE("operators registered with LibTorch are worth a word: two versions of the library end a process") {
  CHECK(codes(advice_about("registers_operators")) == std::vector<std::string>{"W606"});
}
