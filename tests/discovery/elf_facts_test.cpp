#include "discovery/elf_facts.h"

#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

std::string good_library() {
  return read_bytes(TestTree::fixture_root("good") + "/test.good/libtest_good.so");
}

// Where the first program header of a type stands.
std::size_t segment_at(const std::string& bytes, std::uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (int index = 0; index < header.e_phnum; ++index) {
    const std::size_t at = header.e_phoff + static_cast<std::size_t>(index) * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type == type) return at;
  }
  FAIL("there is no such segment");
  return 0;
}

std::string first_code(const std::string& bytes) {
  Diagnostics problems;
  const auto facts = read_elf_facts(MemoryBytes(bytes), Where::in_file("lib.so"), problems);
  CHECK(facts.has_value() == problems.empty());
  return problems.empty() ? "" : problems.entries().front().code;
}

}  // namespace

TEST_CASE("the facts of a component library are read without opening it") {
  const std::string bytes = good_library();
  Diagnostics problems;
  const auto facts = read_elf_facts(MemoryBytes(bytes), {}, problems);
  REQUIRE(facts);
  CHECK(facts->machine == host_machine());
  CHECK(facts->soname == "libtest_good-1.0.0.so");
  CHECK(facts->runpath == "$ORIGIN");
  CHECK(facts->exports_entry);
  CHECK(facts->exported == std::vector<std::string>{"nexuml_library_entry_v1"});
  CHECK(facts->build_id.size() == 40);
  REQUIRE(facts->note);
  CHECK(facts->note->find("\"id\":\"test.good\"") != std::string::npos);
  CHECK(std::ranges::find(facts->needed, "libnexuml-core.so") != facts->needed.end());
}

TEST_CASE("the manifest stands inside the library, too") {
  const std::string bytes = good_library();
  const auto manifest = read_elf_section(MemoryBytes(bytes), ".nexuml.manifest");
  REQUIRE(manifest);
  CHECK(manifest->find("\"good-demo\"") != std::string::npos);
  CHECK_FALSE(read_elf_section(MemoryBytes(bytes), ".no.such.section"));
}

TEST_CASE("a library cut off at any byte of its loaded part is refused before the loader sees it") {
  const std::string bytes = good_library();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::uint64_t loaded_end = 0;
  for (int index = 0; index < header.e_phnum; ++index) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + index * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD) loaded_end = std::max(loaded_end, segment.p_offset + segment.p_filesz);
  }
  for (std::uint64_t size = 0; size < loaded_end; size += size < 2000 ? 1 : 509) {
    INFO("size " << size);
    const std::string code = first_code(bytes.substr(0, size));
    CHECK((code == "E201" || code == "E202"));
  }
  CHECK(first_code(bytes.substr(0, loaded_end)).empty());
}

TEST_CASE("other files than shared libraries are told for what they are") {
  const auto message = [](const std::string& bytes) {
    Diagnostics problems;
    read_elf_facts(MemoryBytes(bytes), {}, problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems.entries().front().code == "E201");
    return problems.entries().front().message;
  };
  CHECK_THAT(message(""), Catch::Contains("empty"));
  CHECK_THAT(message("MZ\x90"), Catch::Contains("Windows"));
  CHECK_THAT(message("this is not a library"), Catch::Contains("text file"));
  CHECK_THAT(message("!<arch>\n"), Catch::Contains("archive"));
  CHECK_THAT(message("version https://git-lfs.github.com/spec/v1\n"), Catch::Contains("git lfs pull"));
}

TEST_CASE("a library of another machine, a program and a debug-only file are refused") {
  std::string bytes = good_library();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto with = [&](auto change) {
    Elf64_Ehdr changed = header;
    change(changed);
    std::string result = bytes;
    std::memcpy(result.data(), &changed, sizeof changed);
    return result;
  };
  CHECK(first_code(with([](Elf64_Ehdr& h) { h.e_machine = EM_S390; })) == "E203");
  CHECK(first_code(with([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })) == "E203");
  CHECK(first_code(with([](Elf64_Ehdr& h) { h.e_type = ET_EXEC; })) == "E204");
  CHECK(first_code(with([](Elf64_Ehdr& h) { h.e_phoff = ~0ull - 8; })) == "E202");
  CHECK(first_code(with([](Elf64_Ehdr& h) { h.e_phnum = 0xffff; })) == "E202");

  // `objcopy --only-keep-debug` leaves the program headers and takes what they point to.
  std::string debug_only = bytes;
  const std::size_t dynamic = segment_at(bytes, PT_DYNAMIC);
  Elf64_Phdr segment;
  std::memcpy(&segment, bytes.data() + dynamic, sizeof segment);
  segment.p_filesz = 0;
  std::memcpy(debug_only.data() + dynamic, &segment, sizeof segment);
  CHECK(first_code(debug_only) == "E204");
}

TEST_CASE("a note with our owner and another type is not taken for the ABI note") {
  std::string bytes = good_library();
  const std::size_t owner = bytes.find(std::string_view("NEXUML\0", 7));
  REQUIRE(owner != std::string::npos);
  REQUIRE(bytes[owner - 4] == 1);
  bytes[owner - 4] = 2;
  CHECK_FALSE(has_nexuml_note(MemoryBytes(bytes)));
}

TEST_CASE("symbols are found by the old hash table, too") {
  const std::string bytes =
      read_bytes(std::string(NEXUML_SOURCE_ROOT) + "/tests/fuzz/corpus/elf/sysv_hash.so");
  Diagnostics problems;
  const auto facts = read_elf_facts(MemoryBytes(bytes), {}, problems);
  REQUIRE(facts);
  CHECK(facts->exports_entry);
}

TEST_CASE("no flipped byte makes the reader fail in another way than by a diagnostic") {
  const std::string bytes = good_library();
  std::uint32_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (int flips = 0; flips < 8; ++flips) {
      state = state * 1664525 + 1013904223;
      // Headers and dynamic tables come first and last; hit both ends more often than the code between.
      const std::size_t range = round % 2 ? 4096 : damaged.size();
      damaged[(state >> 8) % range] = static_cast<char>(state);
    }
    first_code(damaged);
    read_elf_section(MemoryBytes(damaged), ".nexuml.manifest");
    has_nexuml_note(MemoryBytes(damaged));
  }
}

TEST_CASE("a shared library without our note is no candidate") {
  const std::string core = read_bytes(std::string(NEXUML_BUILD_ROOT) + "/lib/libnexuml-core.so");
  CHECK_FALSE(has_nexuml_note(MemoryBytes(core)));
  CHECK(has_nexuml_note(MemoryBytes(good_library())));
}
