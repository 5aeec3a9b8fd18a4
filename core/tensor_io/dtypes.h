// The spellings of every dtype that tensor files can hold.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace nexuml::tensor_io {

struct DtypeNames {
  at::ScalarType dtype;
  std::string_view torch;        // torch.float32 without the module
  std::string_view safetensors;  // empty where that format has no such dtype
  int safetensors_rank;          // the writer of the safetensors package puts higher ranks first
  std::string_view numpy;    // kind and size of a descr, without the byte order; empty where numpy has none
  std::string_view storage;  // class of torch.save's typed storages; empty where it uses UntypedStorage
};

std::span<const DtypeNames> all_dtypes() noexcept;

// All find functions give null for a spelling that is not in the table.
const DtypeNames* find_dtype(at::ScalarType dtype) noexcept;
const DtypeNames* find_torch_dtype(std::string_view name) noexcept;
const DtypeNames* find_safetensors_dtype(std::string_view name) noexcept;
const DtypeNames* find_numpy_dtype(std::string_view name) noexcept;

// "float32" for messages, also for dtypes that are not in the table.
std::string_view dtype_name(at::ScalarType dtype) noexcept;

}  // namespace nexuml::tensor_io
