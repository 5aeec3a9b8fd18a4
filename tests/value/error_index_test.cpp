// docs/errors.md and the sources name the same codes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

namespace fs = std::filesystem;

namespace {

std::string whole_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Each code as "E101" in a source, with one file that has it.
std::map<std::string, std::string> codes_in_sources() {
  static const std::regex code("\"([EW][0-9]{3})\"");
  std::map<std::string, std::string> codes;
  for (const char* folder : {"core", "sdk", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(NEXUML_SOURCE_ROOT) / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string text = whole_file(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match) {
        codes.emplace((*match)[1], entry.path().lexically_relative(NEXUML_SOURCE_ROOT).string());
      }
    }
  }
  return codes;
}

}  // namespace

TEST_CASE("every code of a diagnostic has a row in docs/errors.md") {
  const std::string index = whole_file(fs::path(NEXUML_SOURCE_ROOT) / "docs/errors.md");
  const auto codes = codes_in_sources();
  REQUIRE(codes.size() > 20);
  for (const auto& [code, file] : codes) {
    INFO(code << " of " << file << " has no row in docs/errors.md");
    const bool has_row = std::regex_search(index, std::regex("\n\\| ([EW][0-9]{3}, )*" + code + "[ ,]"));
    CHECK(has_row);
  }
}
