// Runs the opcodes of a pickle, protocols 2 to 5, on a stack of plain values. It calls nothing: a "global"
// must be a word of pickle_globals.h, and "reduce" is what this file says about that word. Opcodes:
// pickletools.py of CPython.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor_io/pickle_node.h"

namespace nexuml::tensor_io {

// Makes a tensor of a storage; strides and offset count elements of `dtype`.
struct TensorLayout {
  at::ScalarType dtype = at::kByte;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::string name;  // the key before it in its dict, for messages; may be empty
};
using MakeTensor = std::function<at::Tensor(const PickleStorage&, const TensorLayout&)>;

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, std::string file, MakeTensor make_tensor)
      : bytes_(bytes), file_(std::move(file)), make_tensor_(std::move(make_tensor)) {}

  // Arrays of numpy become tensors.
  void allow_arrays() { arrays_ = true; }

  // Throws E757.
  PickledValue run();

 private:
  // Reading of operands.
  std::string_view take(std::uint64_t length);
  std::string_view take_line();
  template <class Unsigned>
  Unsigned take_number();

  // Stack and memo.
  NodeId add(PickleNode node);
  void push(PickleNode node) { stack_.push_back(add(std::move(node))); }
  NodeId pop();
  NodeId top() const;
  std::vector<NodeId> pop_to_mark();
  void remember(std::uint64_t place, NodeId node);
  void recall(std::uint64_t place);

  // One opcode; false at the end of the pickle. Each of the four groups says whether the opcode is one of its
  // own.
  bool step();
  bool push_scalar(unsigned char opcode);
  bool push_text(unsigned char opcode);
  bool build_container(unsigned char opcode);
  bool use_stack(unsigned char opcode);
  void push_long(std::uint64_t length);
  void push_old_text(std::string_view text);
  void append_items(const std::vector<NodeId>& items);
  void set_items(const std::vector<NodeId>& keys_and_values);
  void push_global(const std::string& name);

  // What calls mean.
  PickleNode reduce(const PickleGlobal& global, const std::vector<NodeId>& arguments);
  PickleNode reduce_dict(const std::vector<NodeId>& arguments);
  PickleNode reduce_set(const std::vector<NodeId>& arguments);
  PickleNode reduce_bytes(const std::vector<NodeId>& arguments);
  PickleNode reduce_complex(const std::vector<NodeId>& arguments);
  PickleNode reduce_device(const std::vector<NodeId>& arguments);
  PickleNode rebuild_tensor(const PickleGlobal& global, const std::vector<NodeId>& arguments);
  PickleNode rebuild_from_type(const std::vector<NodeId>& arguments);
  PickleNode instantiate(const PickleGlobal& global);
  PickleNode reduce_numpy(const PickleGlobal& global, const std::vector<NodeId>& arguments);
  void build_attributes(NodeId state);
  at::Tensor make_array(NodeId shape, NodeId dtype, bool column_major, NodeId bytes) const;
  PickleStorage read_storage_id(NodeId id) const;
  at::Tensor with_view_bits(at::Tensor tensor, NodeId metadata) const;

  template <class T>
  const T& as(NodeId node, std::string_view expected) const;
  const std::vector<NodeId>& tuple_items(NodeId node) const;
  std::vector<std::int64_t> integers(NodeId node) const;
  std::string dict_key_below() const;

  // The tree without sharing, bounded in depth and number of nodes.
  PickledValue expand(NodeId node, std::size_t depth);

  [[noreturn]] void malformed(std::string_view reason) const;

  std::string_view bytes_;
  std::size_t place_ = 0;
  std::string file_;
  MakeTensor make_tensor_;
  bool arrays_ = false;
  std::vector<PickleNode> nodes_;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, NodeId> memo_;
  std::size_t expanded_nodes_ = 0;
  std::size_t expanded_bytes_ = 0;
};

template <class T>
const T& PickleMachine::as(NodeId node, std::string_view expected) const {
  const T* value = std::get_if<T>(&nodes_[node]);
  if (!value) malformed(std::string(expected) + " is expected");
  return *value;
}

}  // namespace nexuml::tensor_io
