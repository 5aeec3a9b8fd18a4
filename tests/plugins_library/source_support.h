// Opening data sources by their identity, on files made for one test.
#pragma once

#include <nexuml/data.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "plugins_library/shipped_registry.h"

namespace library_tests {

// A folder that lives as long as the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nexuml-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

inline nexuml::AnyDataSource source(const std::string& type, const nexuml::Value& params) {
  return shipped_registry().definition({nexuml::ComponentKind::data_source, type, "1"}, params);
}

inline std::shared_ptr<nexuml::Dataset> open(const std::string& type, const nexuml::Value& params,
                                             const std::filesystem::path& root = {},
                                             nexuml::Diagnostics* advice = nullptr) {
  return source(type, params)->build(nexuml::DataContext{.data_root = root, .advice = advice});
}

inline nexuml::Batch all_rows(const nexuml::Dataset& dataset) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset.size()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return dataset.gather(rows);
}

inline std::vector<float> floats(const at::Tensor& tensor) {
  const at::Tensor held = tensor.to(at::kFloat).contiguous();
  return {held.const_data_ptr<float>(), held.const_data_ptr<float>() + held.numel()};
}

// The text of the error that opening ends with.
inline std::string failure(const std::string& type, const nexuml::Value& params,
                           const std::filesystem::path& root = {}) {
  try {
    (void)open(type, params, root);
  } catch (const nexuml::Error& error) {
    return error.what();
  }
  FAIL("opening the data was expected to fail");
  return {};
}

}  // namespace library_tests
