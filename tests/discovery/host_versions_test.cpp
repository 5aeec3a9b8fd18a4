#include "discovery/host_versions.h"

#include <link.h>

#include <catch2/catch.hpp>

#include "discovery/file_bytes.h"
#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const SystemVersions old_system{
    {"libstdc++.so.6", {"GLIBCXX_3.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.10", "CXXABI_1.3"}},
    {"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.31", "GLIBC_PRIVATE"}}};

std::string good_library() {
  return read_bytes(TestTree::fixture_root("good") + "/test.good/libtest_good.so");
}

class CountedBytes final : public ByteSource {
 public:
  explicit CountedBytes(const std::string& path) : file_(path) {}
  std::uint64_t size() const noexcept override { return file_.size(); }
  bool read(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads_;
    return file_.read(offset, into);
  }
  std::size_t reads() const noexcept { return reads_; }

 private:
  FileBytes file_;
  mutable std::size_t reads_ = 0;
};

}  // namespace

TEST_CASE("the versions that this system's C and C++ libraries have are read from their files") {
  const auto& host = host_versions();
  REQUIRE(host.contains("libc.so.6"));
  REQUIRE(host.contains("libstdc++.so.6"));
  CHECK(host.find("libc.so.6")->second.contains("GLIBC_2.2.5"));
  CHECK(host.find("libstdc++.so.6")->second.contains("GLIBCXX_3.4.21"));
}

TEST_CASE("the versions of a system library cost a few reads each: its thousands of symbols are not read") {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        if (!path.ends_with("/libstdc++.so.6") && !path.ends_with("/libc.so.6")) return 0;
        INFO(path);
        const CountedBytes bytes(path);
        const std::size_t versions = read_version_definitions(bytes).size();
        CHECK(versions > 20);
        CHECK(bytes.reads() < 100 + 4 * versions);
        return 0;
      },
      nullptr);
}

TEST_CASE("what a library needs of the system is read from its file, and this system has it") {
  Diagnostics problems;
  const std::string bytes = good_library();
  const auto facts = read_elf_facts(MemoryBytes(bytes), {}, problems);
  REQUIRE(facts);
  CHECK(std::ranges::any_of(facts->version_needs, [](const VersionNeed& need) {
    return need.file == "libstdc++.so.6" && need.version.starts_with("GLIBCXX_3.4");
  }));
  CHECK(check_version_needs(facts->version_needs, host_versions(), {}, problems));
  CHECK(problems.empty());
}

TEST_CASE("a library of a newer system is told with the newest version on both sides") {
  Diagnostics problems;
  CHECK_FALSE(check_version_needs({{"libstdc++.so.6", "GLIBCXX_3.4.9"},
                                   {"libstdc++.so.6", "GLIBCXX_3.4.29"},
                                   {"libstdc++.so.6", "GLIBCXX_3.4.32"},
                                   {"libc.so.6", "GLIBC_2.38"},
                                   {"libunknown.so.1", "ANY_1"}},
                                  old_system, Where::in_file("lib.so"), problems));
  CHECK(codes(problems) == std::vector<std::string>{"E305", "E305"});
  CHECK_THAT(problems.to_text(),
             Catch::Contains("needs GLIBC_2.38 of libc.so.6, this host has up to GLIBC_2.31") &&
                 Catch::Contains("needs GLIBCXX_3.4.32 of libstdc++.so.6, this host has up to "
                                 "GLIBCXX_3.4.10"));
}

TEST_CASE("a library that needs a version which this system lacks is incompatible before it is opened") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  std::string bytes = good_library();
  int replaced = 0;
  for (std::size_t at = 0; (at = bytes.find("GLIBCXX_3", at)) != std::string::npos; ++replaced)
    bytes.replace(at, 9, "GLIBCXX_9");
  REQUIRE(replaced > 0);
  tree.write("root/test.good/libtest_good.so", bytes);
  const auto catalog = discover({.roots = {tree.path("root")}}, empty_environment(tree));
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E305"});
  CHECK(catalog->libraries()[0].state == EntryState::incompatible);
  CHECK_THAT(catalog->libraries()[0].reason, Catch::Contains("GLIBCXX_9.4"));
}
