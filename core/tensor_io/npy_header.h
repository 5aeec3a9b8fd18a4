// The header of an NPY file: a Python literal that names byte order, dtype, order of the axes and shape.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

struct NpyHeader {
  at::ScalarType dtype = at::kFloat;
  bool big_endian = false;
  bool column_major = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;
  std::uint64_t data_size = 0;  // what shape and dtype need; the file holds exactly so much
};

// Throws E759.
NpyHeader read_npy_header(const Input& input);

// Magic, version, length, literal and padding, as numpy writes them for a little-endian row-major array.
// Throws E753 for a dtype that NPY files cannot hold; `name` is for the message.
std::string format_npy_header(at::ScalarType dtype, at::IntArrayRef shape, std::string_view name);

}  // namespace nexuml::tensor_io
