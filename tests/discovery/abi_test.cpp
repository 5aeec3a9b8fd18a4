#include "discovery/abi.h"

#include <catch2/catch.hpp>

#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const AbiFacts host{"1.2", "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0;tbb-12", ""};

std::vector<std::string> differences(const std::string& interface_version, const std::string& tag) {
  Diagnostics problems;
  const bool same = check_abi({interface_version, tag, ""}, host, {}, problems);
  CHECK(same == problems.empty());
  return codes(problems);
}

}  // namespace

TEST_CASE("a library fits with the same interface major and no newer minor") {
  const std::string tag = host.tag;
  CHECK(differences("1.2", tag).empty());
  CHECK(differences("1.0", tag).empty());
  CHECK(differences("1.3", tag) == std::vector<std::string>{"E301"});
  CHECK(differences("2.0", tag) == std::vector<std::string>{"E301"});
  CHECK(differences("", tag) == std::vector<std::string>{"E301"});
  CHECK(differences("one", tag) == std::vector<std::string>{"E301"});
}

TEST_CASE("LibTorch matches on major and minor, not on the patch") {
  CHECK(differences("1.0", "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.3;tbb-12").empty());
  CHECK(differences("1.0", "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.1.0;tbb-12") ==
        std::vector<std::string>{"E303"});
  CHECK(differences("1.0", "x86_64-linux-gnu;libstdcxx-cxx11;torch-9.9;tbb-12") ==
        std::vector<std::string>{"E303"});
}

TEST_CASE("a library without tensors names no LibTorch and runs beside any") {
  CHECK(differences("1.0", "x86_64-linux-gnu;libstdcxx-cxx11").empty());
}

TEST_CASE("every difference is told at once, built for against host has, with how to rebuild") {
  Diagnostics problems;
  check_abi({"1.0", "aarch64-linux-gnu;libstdcxx-cxx98;torch-2.6.0;tbb-2;sanitizer-address", ""}, host, {},
            problems);
  CHECK(codes(problems) == std::vector<std::string>{"E203", "E302", "E303", "E304", "E307"});
  CHECK(problems.entries()[2].message == "built for LibTorch 2.6.0, this host has 2.15.0");
  CHECK_THAT(problems.entries()[2].hint, Catch::Contains("rebuild"));
}

TEST_CASE("the host describes itself by the same tag") {
  Diagnostics problems;
  CHECK(check_abi(host_abi(), host_abi(), {}, problems));
  CHECK(host_abi().machine().starts_with("x86_64") ==
        (std::string_view(host_abi().tag).starts_with("x86_64")));
}

TEST_CASE("a note that is damaged or of another form is refused") {
  const auto refused = [](const std::string& payload) {
    Diagnostics problems;
    CHECK_FALSE(read_note(payload, {}, problems));
    return codes(problems) == std::vector<std::string>{"E206"};
  };
  CHECK(refused(""));
  CHECK(refused("{\"note_version\":1"));
  CHECK(refused("[]"));
  CHECK(refused(R"({"note_version":1,"id":"a","version":"1"})"));
}

TEST_CASE("a note of a newer form asks for a newer host, one of an older form for a new build") {
  const auto told = [](int form) {
    Diagnostics problems;
    CHECK_FALSE(read_note(
        fmt::format(R"({{"note_version":{},"id":"a","version":"1","nexuml":"1.0","tag":"t"}})", form), {},
        problems));
    REQUIRE(codes(problems) == std::vector<std::string>{"E206"});
    return problems.to_text();
  };
  CHECK_THAT(told(2), Catch::Contains("form 2, this host reads form 1") && Catch::Contains("a host as new"));
  CHECK_THAT(told(0), Catch::Contains("form 0, this host reads form 1") && Catch::Contains("rebuild"));
}

TEST_CASE("another flavour of LibTorch matters to a library that links its part for a device") {
  const auto told = [](const std::string& built_for, const std::string& has,
                       std::vector<std::string> needed) {
    Diagnostics problems;
    const bool fits = check_flavour({"1.0", "x86_64-linux-gnu;torch-" + built_for, ""},
                                    {"1.0", "x86_64-linux-gnu;torch-" + has, ""}, needed, {}, problems);
    CHECK(fits == problems.empty());
    return problems.to_text();
  };
  const std::vector<std::string> plain{"libtorch_cpu.so", "libc10.so"}, device{"libc10.so", "libc10_cuda.so"};
  CHECK(told("2.15.0+cu132", "2.15.0+cpu", plain).empty());
  CHECK(told("2.15.0+cu132", "2.15.1+cu132", device).empty());
  CHECK_THAT(told("2.15.0+cu132", "2.15.0+cpu", device),
             Catch::Contains("E303") &&
                 Catch::Contains("needs libc10_cuda.so of LibTorch 2.15.0+cu132, this host has 2.15.0+cpu"));
  CHECK_FALSE(told("2.15.0+rocm6.4", "2.15.0+cu132", {"torch_hip.dll"}).empty());
  CHECK(differences("1.0", "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0+cpu;tbb-12").empty());
}

TEST_CASE("a library for newer processors is told by its level") {
  const auto codes_for = [](const std::string& library, const std::string& processor) {
    Diagnostics problems;
    check_abi({"1.0", "x86_64-linux-gnu;libstdcxx-cxx11", "", library},
              {"1.0", "x86_64-linux-gnu;libstdcxx-cxx11", "", processor}, {}, problems);
    return codes(problems);
  };
  CHECK(codes_for("x86-64-v4", "x86-64-v3") == std::vector<std::string>{"E306"});
  CHECK(codes_for("x86-64-v2", "x86-64") == std::vector<std::string>{"E306"});
  CHECK(codes_for("x86-64-v3", "x86-64-v3").empty());
  CHECK(codes_for("", "x86-64").empty());
  CHECK(codes_for("x86-64-v4", "").empty());  // a host that cannot tell
}

TEST_CASE("the note tells the level, the manifest does not: a library is refused by its note") {
  Diagnostics problems;
  const auto note = read_note(
      R"({"note_version":1,"id":"a","version":"1","nexuml":"1.0","tag":"t","processor":"x86-64-v3"})", {},
      problems);
  REQUIRE(note);
  CHECK_FALSE(check_processor(note->abi, {"1.0", "t", "", "x86-64-v2"}, {}, problems));
  CHECK_THAT(problems.to_text(), Catch::Contains("x86-64-v3") && Catch::Contains("-march=native"));
}

TEST_CASE("a host with a preloaded sanitizer takes libraries with it and without") {
  const AbiFacts preloaded{"1.0", "x86_64-linux-gnu;libstdcxx-cxx11", "", "", "address"};
  for (const char* sanitizer : {"", ";sanitizer-address"}) {
    Diagnostics problems;
    CHECK(check_abi({"1.0", std::string("x86_64-linux-gnu;libstdcxx-cxx11") + sanitizer, ""}, preloaded, {},
                    problems));
  }
  Diagnostics problems;
  CHECK_FALSE(
      check_abi({"1.0", "x86_64-linux-gnu;libstdcxx-cxx11;sanitizer-thread", ""}, preloaded, {}, problems));
}
