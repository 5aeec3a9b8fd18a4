// An NPY file whose rows arrive in parts: one part is in memory at a time.
//
//     NpyRowsWriter file("features.npy", at::kFloat, {1000, 3});
//     file.add(first_64_rows);                  // [64, 3]
//     ...
//     file.finish();                            // appears whole; without it nothing is left behind
#pragma once

#include <nexuml/export.h>
#include <nexuml/tensor_io.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tensor_io/hashing_writer.h"

namespace nexuml::tensor_io {

class NEXUML_EXPORT NpyRowsWriter {
 public:
  // Throws Error E753 for a dtype that NPY files cannot hold, E755 where the file cannot be made.
  NpyRowsWriter(std::string path, at::ScalarType dtype, std::vector<std::int64_t> shape);

  // The next rows. Throws Error E753 where they are of another dtype or shape, or more than the shape has.
  void add(const at::Tensor& rows);
  std::int64_t rows_written() const noexcept { return rows_; }
  // Throws Error E753 where rows are missing.
  WrittenFile finish();

 private:
  const std::string path_;
  const at::ScalarType dtype_;
  const std::vector<std::int64_t> shape_;
  std::int64_t rows_ = 0;
  HashingWriter file_;
};

}  // namespace nexuml::tensor_io
