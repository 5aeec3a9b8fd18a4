// Arrays of numpy inside pickles, and pickles that are no archive of torch.save.
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tensor_io/input_file.h"
#include "tensor_io/layout.h"
#include "tensor_io/pickle_machine.h"

namespace nexuml::tensor_io {

namespace {

std::optional<at::ScalarType> array_dtype(std::string_view code) {
  constexpr std::pair<std::string_view, at::ScalarType> kinds[] = {
      {"b1", at::kBool}, {"u1", at::kByte}, {"i1", at::kChar},  {"i2", at::kShort}, {"i4", at::kInt},
      {"i8", at::kLong}, {"f2", at::kHalf}, {"f4", at::kFloat}, {"f8", at::kDouble}};
  for (const auto& [name, dtype] : kinds)
    if (code == name) return dtype;
  return std::nullopt;
}

}  // namespace

PickleNode PickleMachine::reduce_numpy(const PickleGlobal& global, const std::vector<NodeId>& arguments) {
  if (global.word == PickleWord::numpy_reconstruct) return PickledArray{};
  if (global.word == PickleWord::numpy_dtype) {
    if (arguments.empty()) malformed("a dtype without its name");
    std::string code = as<std::string>(arguments[0], "the name of a dtype");
    char order = '=';
    if (code.size() == 3) {
      order = code[0];
      code.erase(0, 1);
    }
    return PickledDtype{std::move(code), order};
  }
  if (arguments.size() < 4) malformed("an array without buffer, dtype, shape and order");
  return make_array(arguments[2], arguments[1], as<std::string>(arguments[3], "an order") == "F",
                    arguments[0]);
}

void PickleMachine::build_attributes(NodeId state) {
  PickleNode& node = nodes_[top()];
  if (auto* dtype = std::get_if<PickledDtype>(&node)) {  // (3, '<', None, ...)
    const auto& parts = tuple_items(state);
    if (parts.size() < 2) malformed("a dtype without byte order");
    const std::string& order = as<std::string>(parts[1], "a byte order");
    dtype->order = order.empty() ? '=' : order[0];
  } else if (std::holds_alternative<PickledArray>(node)) {  // (1, shape, dtype, column_major, bytes)
    const auto& parts = tuple_items(state);
    if (parts.size() < 5) malformed("an array without shape, dtype and bytes");
    const bool* column_major = std::get_if<bool>(&nodes_[parts[3]]);
    const auto* number = std::get_if<std::int64_t>(&nodes_[parts[3]]);
    node = make_array(parts[1], parts[2], column_major ? *column_major : number && *number != 0, parts[4]);
  } else if (!std::holds_alternative<PickleDict>(node) &&
             !std::holds_alternative<PickledValue::Opaque>(node)) {
    malformed("attributes for what is no dict");
  }
}

at::Tensor PickleMachine::make_array(NodeId shape, NodeId dtype, bool column_major, NodeId bytes) const {
  const auto& written = as<PickledDtype>(dtype, "a dtype");
  const auto type = array_dtype(written.code);
  if (!type) malformed(fmt::format("an array of dtype '{}', which has no counterpart here", written.code));
  std::vector<std::int64_t> sizes = integers(shape);
  const auto* text = std::get_if<std::string>(&nodes_[bytes]);  // as Python 2 wrote them
  const auto* held = std::get_if<PickledValue::Bytes>(&nodes_[bytes]);
  if (!text && !held) malformed("the bytes of an array are expected");
  const std::string_view content = text ? *text : held->bytes;
  const auto needed = checked_bytes(sizes, c10::elementSize(*type));
  if (!needed) malformed("an array larger than its bytes");
  if (*needed != content.size())
    malformed(fmt::format("an array of {} bytes whose shape needs {}", content.size(), *needed));
  if (column_major) std::reverse(sizes.begin(), sizes.end());
  at::Tensor array = at::empty(sizes, *type);
  std::memcpy(array.mutable_data_ptr(), content.data(), content.size());
  if (written.order == '>') swap_bytes(array);
  if (!column_major) return array;
  std::vector<std::int64_t> axes;
  for (auto axis = static_cast<std::int64_t>(sizes.size()); axis-- > 0;) axes.push_back(axis);
  return array.permute(axes).contiguous();
}

}  // namespace nexuml::tensor_io

namespace nexuml {

PickledValue read_pickle(const std::string& path) {
  constexpr std::uint64_t most_pickle_bytes = std::uint64_t{1} << 30;
  const auto input = tensor_io::FileInput::open(path);
  if (input->size() == 0 || input->size() > most_pickle_bytes)
    tensor_io::refuse(
        "E751",
        fmt::format("{} has {}, a pickle of at most {} is expected", path,
                    tensor_io::byte_count(input->size()), tensor_io::byte_count(most_pickle_bytes)),
        path);
  const std::string bytes = input->read_text(0, input->size());
  tensor_io::PickleMachine machine(
      bytes, path, [&](const tensor_io::PickleStorage&, const tensor_io::TensorLayout&) -> at::Tensor {
        tensor_io::refuse("E757", fmt::format("{} holds tensors without their archive", path), path,
                          "read it as a file of torch.save");
      });
  machine.allow_arrays();
  return machine.run();
}

}  // namespace nexuml
