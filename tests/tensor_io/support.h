// What the tests of this room share: files, temporary folders, bits and messages.
#pragma once

#include <nexuml/diagnostic.h>
#include <stdlib.h>
#include <torch/types.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace tensor_io_tests {

inline std::string data_path(const std::string& name) {
  return std::string(NEXUML_TEST_DATA) + "/" + name;
}

inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nexuml-tensor-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

// The text of the refusal; empty where nothing was refused. Anything but an Error escapes and fails the test.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const nexuml::Error& error) {
    return error.what();
  }
  return {};
}

inline bool same_bits(const at::Tensor& left, const at::Tensor& right) {
  if (left.scalar_type() != right.scalar_type() || left.sizes() != right.sizes()) return false;
  const at::Tensor a = left.contiguous();
  const at::Tensor b = right.contiguous();
  return a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

template <class T>
std::vector<T> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous().flatten();
  const T* data = flat.const_data_ptr<T>();
  return {data, data + flat.numel()};
}

}  // namespace tensor_io_tests
