// The Python names that a pickle of a state dict may mention. None of them is ever imported or called: each
// is a word whose meaning the reader knows.
#pragma once

#include <torch/types.h>

#include <optional>
#include <string_view>

namespace nexuml::tensor_io {

enum class PickleWord {
  ordered_dict,
  set,
  bytes_array,
  complex,
  encode,  // _codecs.encode, how protocol 2 writes bytes
  size,
  device,
  dtype,
  storage,          // a class of typed storages
  untyped_storage,  // counted in bytes
  tensor_class,
  rebuild_tensor,             // _rebuild_tensor_v2: the storage has the dtype
  rebuild_tensor_with_dtype,  // _rebuild_tensor_v3
  rebuild_parameter,
  rebuild_from_type,  // tensors with Python attributes
  opaque_class,
  numpy_reconstruct,  // an array whose shape, dtype and bytes come with BUILD
  numpy_from_buffer,  // the same of protocol 5
  numpy_array,        // the class
  numpy_dtype,
};

struct PickleGlobal {
  std::string_view name;  // module and name with a dot between
  PickleWord word;
  at::ScalarType dtype = at::kByte;  // of dtypes and storage classes
};

// Arrays of numpy are understood where whole pickles are read, not in state dicts.
inline bool is_numpy(PickleWord word) {
  return word >= PickleWord::numpy_reconstruct;
}

const PickleGlobal* find_pickle_global(std::string_view name);

}  // namespace nexuml::tensor_io
