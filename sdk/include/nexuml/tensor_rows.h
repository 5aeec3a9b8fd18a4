// TensorRows: rows of a tensor that stays in its file, for data that is larger than memory.
//
//     std::optional<nexuml::TensorRows> rows = nexuml::TensorRows::of_npy("images.npy");
//     at::Tensor batch = rows->gather(indices);      // [indices, ...], read with pread
//
// Nothing is mapped: a run needs the memory of its batches, whatever the size of the file. [any thread]
#pragma once

#include <nexuml/export.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT TensorRows {
 public:
  // Nothing where rows do not lie together in the file (column-major, big-endian) or there is no first
  // dimension. Throws the codes of reading tensor files.
  static std::optional<TensorRows> of_npy(const std::string& path);
  // Throws Error E754 where the file has no tensor `name`.
  static std::optional<TensorRows> of_safetensors(const std::string& path, const std::string& name);

  const std::vector<std::int64_t>& shape() const noexcept {
    return shape_;
  }  // the first is the number of rows
  at::ScalarType dtype() const noexcept { return dtype_; }
  // Rows 0 <= index < shape()[0]; neighbours are read at once.
  at::Tensor gather(std::span<const std::int64_t> indices) const;
  at::Tensor all() const;

 private:
  class File;
  TensorRows(std::shared_ptr<const File> file, std::vector<std::int64_t> shape, at::ScalarType dtype,
             std::uint64_t offset);

  std::shared_ptr<const File> file_;
  std::vector<std::int64_t> shape_;
  at::ScalarType dtype_;
  std::uint64_t offset_, row_bytes_;
};

}  // namespace nexuml
