// The values that a pickle builds, as nodes of one arena: a pickle may refer to a value many times and even
// to itself, so nodes name each other by index.
#pragma once

#include <nexuml/pickled_value.h>
#include <torch/types.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor_io/pickle_globals.h"

namespace nexuml::tensor_io {

using NodeId = std::uint32_t;

struct PickleSequence {
  enum class Kind { list, tuple, set } kind = Kind::list;
  std::vector<NodeId> items;
};

struct PickleDict {
  std::vector<NodeId> keys_and_values;  // key, value, key, value ...
};

// What a persistent id of torch.save says: bytes that stand in a record of their own.
struct PickleStorage {
  std::string key;
  std::optional<at::ScalarType> dtype;  // nothing for untyped storages
  std::uint64_t bytes = 0;
};

// numpy.dtype('u1'): kind and size; the byte order comes with BUILD.
struct PickledDtype {
  std::string code;
  char order = '=';
};

// An array before BUILD, which gives it shape and bytes.
struct PickledArray {};

using PickleNode =
    std::variant<PickledValue::None, bool, std::int64_t, PickledValue::BigInteger, double,
                 std::complex<double>, std::string, PickledValue::Bytes, at::Tensor, at::ScalarType,
                 PickledValue::Device, PickleSequence, PickleDict, PickledValue::Opaque, const PickleGlobal*,
                 PickleStorage, PickledDtype, PickledArray>;

}  // namespace nexuml::tensor_io
