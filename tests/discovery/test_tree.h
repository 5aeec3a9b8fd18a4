// A folder for one test, removed afterwards, and shorthand for what discovery tests put into it.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "discovery/abi.h"
#include "discovery/discover.h"
#include "discovery/search.h"

namespace nexuml::test {

namespace fs = std::filesystem;

class TestTree {
 public:
  TestTree() {
    static std::atomic<int> count = 0;
    path_ = fs::temp_directory_path() / fmt::format("nexuml-test-{}-{}", ::getpid(), count++);
    fs::create_directories(path_);
  }
  ~TestTree() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TestTree(const TestTree&) = delete;
  TestTree& operator=(const TestTree&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }
  // A component folder with the library of a fixture, see tests/plugins.
  void copy_fixture(const std::string& fixture, const std::string& folder) const {
    fs::create_directories((path_ / folder).parent_path());
    fs::copy(fixture_root(fixture), path_ / folder, fs::copy_options::recursive);
  }
  static std::string fixture_root(const std::string& fixture) {
    return (fs::path(NEXUML_BUILD_ROOT) / "tests/roots" / fixture).string();
  }

 private:
  fs::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string test_data(const std::string& name) {
  return (fs::path(NEXUML_TEST_DATA) / "discovery" / name).string();
}

// A host with nothing shipped and no home.
inline Environment empty_environment(const TestTree& tree) {
  return {.host_prefix = tree.path("host"),
          .components_dir = tree.path("host/lib/nexuml/components"),
          .variables = {}};
}

// A manifest of a library that provides one layer; the library file is not there.
inline std::string manifest_text(const std::string& id, const std::string& version, const std::string& layer,
                                 const std::string& tag = host_abi().tag) {
  return fmt::format(
      R"({{"manifest_version": 1, "library": {{"id": "{}", "version": "{}", "path": "lib.so"}},)"
      R"( "abi": {{"nexuml": "1.0", "tag": "{}"}}, "provides": [{{"kind": "layer", "name": "{}", "version": "1"}}]}})",
      id, version, tag, layer);
}

inline std::vector<std::string> codes(const Diagnostics& problems) {
  std::vector<std::string> result;
  for (const auto& entry : problems) result.push_back(entry.code);
  return result;
}

}  // namespace nexuml::test
