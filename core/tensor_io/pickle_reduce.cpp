// What the calls of a pickle mean.
#include <fmt/format.h>

#include <algorithm>

#include "tensor_io/pickle_machine.h"

namespace nexuml::tensor_io {

namespace {

// Protocol 2 writes bytes as the text of their values in Latin-1.
bool latin1_bytes(const std::string& text, std::string& bytes) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += static_cast<char>(byte);
      continue;
    }
    if ((byte != 0xc2 && byte != 0xc3) || ++i == text.size()) return false;
    bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[i]) & 0x3f));
  }
  return true;
}

}  // namespace

const std::vector<NodeId>& PickleMachine::tuple_items(NodeId node) const {
  const auto& sequence = as<PickleSequence>(node, "a tuple");
  if (sequence.kind != PickleSequence::Kind::tuple) malformed("a tuple is expected");
  return sequence.items;
}

std::vector<std::int64_t> PickleMachine::integers(NodeId node) const {
  std::vector<std::int64_t> numbers;
  for (const NodeId item : tuple_items(node)) numbers.push_back(as<std::int64_t>(item, "an integer"));
  return numbers;
}

// While the value of a dict is built its key lies below it on the stack.
std::string PickleMachine::dict_key_below() const {
  for (std::size_t i = stack_.size(); i-- > 0 && stack_.size() - i <= 4;) {
    if (const auto* key = std::get_if<std::string>(&nodes_[stack_[i]])) return *key;
  }
  return {};
}

PickleNode PickleMachine::reduce(const PickleGlobal& global, const std::vector<NodeId>& arguments) {
  const auto require = [&](std::size_t least) {
    if (arguments.size() < least) malformed(fmt::format("{} has too few arguments", global.name));
  };
  switch (global.word) {
    case PickleWord::ordered_dict:
      return reduce_dict(arguments);
    case PickleWord::set:
      return reduce_set(arguments);
    case PickleWord::encode:
      require(1);
      [[fallthrough]];
    case PickleWord::bytes_array:
      return reduce_bytes(arguments);
    case PickleWord::complex:
      require(2);
      return reduce_complex(arguments);
    case PickleWord::size:
      require(1);
      return PickleSequence{PickleSequence::Kind::tuple, tuple_items(arguments[0])};
    case PickleWord::device:
      require(1);
      return reduce_device(arguments);
    case PickleWord::rebuild_tensor:
      require(4);
      return rebuild_tensor(global, arguments);
    case PickleWord::rebuild_tensor_with_dtype:
      require(7);
      return rebuild_tensor(global, arguments);
    case PickleWord::rebuild_parameter:
      require(1);
      return as<at::Tensor>(arguments[0], "a tensor");
    case PickleWord::rebuild_from_type:
      require(3);
      return rebuild_from_type(arguments);
    case PickleWord::numpy_reconstruct:
    case PickleWord::numpy_from_buffer:
    case PickleWord::numpy_dtype:
      return reduce_numpy(global, arguments);
    case PickleWord::numpy_array:
    case PickleWord::dtype:
    case PickleWord::storage:
    case PickleWord::untyped_storage:
    case PickleWord::tensor_class:
    case PickleWord::opaque_class:
      break;
  }
  malformed(fmt::format("{} cannot be called", global.name));
}

PickleNode PickleMachine::instantiate(const PickleGlobal& global) {
  if (global.word == PickleWord::opaque_class) return PickledValue::Opaque{std::string(global.name)};
  if (global.word == PickleWord::ordered_dict) return PickleDict{};
  malformed(fmt::format("{} cannot be instantiated", global.name));
}

// OrderedDict() is filled afterwards; Python 2 wrote OrderedDict([[key, value], ...]).
PickleNode PickleMachine::reduce_dict(const std::vector<NodeId>& arguments) {
  PickleDict result;
  if (arguments.empty()) return result;
  if (const auto* dict = std::get_if<PickleDict>(&nodes_[arguments[0]])) return *dict;
  for (const NodeId pair : as<PickleSequence>(arguments[0], "pairs of key and value").items) {
    const auto& items = as<PickleSequence>(pair, "a pair of key and value").items;
    if (items.size() != 2) malformed("a pair of key and value is expected");
    result.keys_and_values.insert(result.keys_and_values.end(), items.begin(), items.end());
  }
  return result;
}

PickleNode PickleMachine::reduce_set(const std::vector<NodeId>& arguments) {
  PickleSequence result{PickleSequence::Kind::set, {}};
  if (!arguments.empty()) result.items = as<PickleSequence>(arguments[0], "a list").items;
  return result;
}

PickleNode PickleMachine::reduce_bytes(const std::vector<NodeId>& arguments) {
  PickledValue::Bytes result;
  if (arguments.empty()) return result;
  if (const auto* bytes = std::get_if<PickledValue::Bytes>(&nodes_[arguments[0]])) return *bytes;
  if (!latin1_bytes(as<std::string>(arguments[0], "a text"), result.bytes))
    malformed("bytes that are not Latin-1");
  return result;
}

PickleNode PickleMachine::reduce_complex(const std::vector<NodeId>& arguments) {
  const auto* real = std::get_if<double>(&nodes_[arguments[0]]);
  const auto* imaginary = std::get_if<double>(&nodes_[arguments[1]]);
  if (!real || !imaginary) malformed("two numbers are expected");
  return std::complex<double>(*real, *imaginary);
}

PickleNode PickleMachine::reduce_device(const std::vector<NodeId>& arguments) {
  std::string name = as<std::string>(arguments[0], "the name of a device");
  if (arguments.size() > 1) {
    if (const auto* index = std::get_if<std::int64_t>(&nodes_[arguments[1]]))
      name += fmt::format(":{}", *index);
  }
  return PickledValue::Device{std::move(name)};
}

// ('storage', class, key, location, elements); the elements of untyped storages are bytes.
PickleStorage PickleMachine::read_storage_id(NodeId id) const {
  const std::vector<NodeId>& parts = tuple_items(id);
  if (parts.size() < 5 || as<std::string>(parts[0], "the word 'storage'") != "storage") {
    malformed("a persistent id that is no storage");
  }
  const PickleGlobal& type = *as<const PickleGlobal*>(parts[1], "a storage class");
  const std::int64_t elements = as<std::int64_t>(parts[4], "a number of elements");
  if (elements < 0 || elements > std::int64_t{1} << 56) malformed("an impossible number of elements");
  PickleStorage storage{as<std::string>(parts[2], "the key of a storage"), std::nullopt, 0};
  if (type.word == PickleWord::storage) {
    storage.dtype = type.dtype;
    storage.bytes = static_cast<std::uint64_t>(elements) * c10::elementSize(type.dtype);
  } else if (type.word == PickleWord::untyped_storage) {
    storage.bytes = static_cast<std::uint64_t>(elements);
  } else {
    malformed(fmt::format("{} is no storage class", type.name));
  }
  return storage;
}

// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]); v3 has the dtype
// before metadata.
PickleNode PickleMachine::rebuild_tensor(const PickleGlobal& global, const std::vector<NodeId>& arguments) {
  const auto& storage = as<PickleStorage>(arguments[0], "a storage");
  TensorLayout layout;
  layout.offset = as<std::int64_t>(arguments[1], "an offset");
  layout.sizes = integers(arguments[2]);
  layout.strides = integers(arguments[3]);
  layout.name = dict_key_below();
  std::size_t metadata = 6;
  if (global.word == PickleWord::rebuild_tensor_with_dtype) {
    layout.dtype = as<at::ScalarType>(arguments[6], "a dtype");
    metadata = 7;
  } else if (storage.dtype) {
    layout.dtype = *storage.dtype;
  } else {
    malformed("a tensor without dtype");
  }
  at::Tensor tensor = make_tensor_(storage, layout);
  return arguments.size() > metadata ? with_view_bits(std::move(tensor), arguments[metadata]) : tensor;
}

// {'conj': True, 'neg': True}: the storage holds the values before conjugation and negation.
at::Tensor PickleMachine::with_view_bits(at::Tensor tensor, NodeId metadata) const {
  if (std::holds_alternative<PickledValue::None>(nodes_[metadata])) return tensor;
  const auto& items = as<PickleDict>(metadata, "the metadata of a tensor").keys_and_values;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const std::string& key = as<std::string>(items[i], "a text");
    const bool* set = std::get_if<bool>(&nodes_[items[i + 1]]);
    if (!set || (key != "conj" && key != "neg")) malformed(fmt::format("unknown tensor metadata '{}'", key));
    if (!*set) continue;
    tensor = key == "neg" ? tensor.neg() : tensor.is_complex() ? tensor.conj().resolve_conj() : tensor;
  }
  return tensor;
}

// _rebuild_from_type_v2(function, type, arguments, state): a tensor with Python attributes, which are
// dropped.
PickleNode PickleMachine::rebuild_from_type(const std::vector<NodeId>& arguments) {
  const PickleGlobal& function = *as<const PickleGlobal*>(arguments[0], "something to call");
  const PickleGlobal& type = *as<const PickleGlobal*>(arguments[1], "a class of tensors");
  if (type.word != PickleWord::tensor_class) malformed(fmt::format("{} is no class of tensors", type.name));
  if (function.word == PickleWord::rebuild_from_type) malformed("a tensor type inside a tensor type");
  return reduce(function, tuple_items(arguments[2]));
}

}  // namespace nexuml::tensor_io
