// checkpoint diff: where two checkpoints or weights files differ.
#include <ATen/ops/abs.h>
#include <ATen/ops/sub.h>
#include <fmt/format.h>

#include <cstring>

#include "engine/engine_call.h"
#include "engine/stored_weights.h"
#include "engine/value_changes.h"
#include "tensor_io/dtypes.h"
#include "tensor_io/layout.h"

namespace nexuml {

namespace {

std::string kind_of(const at::Tensor& tensor) {
  return fmt::format("{} {}", tensor_io::dtype_name(tensor.scalar_type()),
                     tensor_io::shape_text(tensor.sizes()));
}

// Bit for bit, so that NaN equals itself and 0 is not -0.
bool same_bits(const at::Tensor& left, const at::Tensor& right) {
  const at::Tensor a = left.contiguous(), b = right.contiguous();
  return a.nbytes() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

at::Tensor as_numbers(const at::Tensor& tensor) {
  return tensor.to(tensor.is_complex() ? at::kComplexDouble : at::kDouble);
}

struct TensorDifference {
  std::string name, left, right;  // dtype and shape; empty where the tensor is absent
  std::int64_t differing = 0;     // values, where dtype and shape agree
  std::int64_t values = 0;
  double largest = 0;  // of |left - right|; NaN where one of them is
};

std::vector<TensorDifference> differences(const TensorMap& left, const TensorMap& right, std::size_t& equal) {
  std::vector<TensorDifference> found;
  for (const auto& [name, tensor] : left) {
    const at::Tensor* other = right.find(name);
    TensorDifference difference{name, kind_of(tensor), other ? kind_of(*other) : std::string()};
    if (other && difference.left == difference.right) {
      if (same_bits(tensor, *other)) {
        ++equal;
        continue;
      }
      const at::Tensor gap = at::abs(at::sub(as_numbers(tensor), as_numbers(*other)));
      difference.values = gap.numel();
      difference.differing = gap.ne(0).sum().item<std::int64_t>();  // NaN is not equal to 0
      difference.largest = gap.max().item<double>();
    }
    found.push_back(std::move(difference));
  }
  for (const auto& [name, tensor] : right)
    if (!left.contains(name)) found.push_back({name, {}, kind_of(tensor)});
  return found;
}

std::string line_of(const TensorDifference& difference) {
  if (difference.right.empty()) return fmt::format("  - {}  {}\n", difference.name, difference.left);
  if (difference.left.empty()) return fmt::format("  + {}  {}\n", difference.name, difference.right);
  if (difference.left != difference.right)
    return fmt::format("  ~ {}  {}, now {}\n", difference.name, difference.left, difference.right);
  if (difference.differing == 0)
    return fmt::format("  ~ {}  {}: equal numbers of other bits\n", difference.name, difference.left);
  return fmt::format("  ~ {}  {}: {} of {} values, at most by {:.6g}\n", difference.name, difference.left,
                     difference.differing, difference.values, difference.largest);
}

Value value_of(const TensorDifference& difference) {
  Value value = Value::map({{"name", difference.name}});
  value.set("left", difference.left.empty() ? Value() : Value(difference.left));
  value.set("right", difference.right.empty() ? Value() : Value(difference.right));
  if (difference.values > 0) {
    value.set("differing", difference.differing);
    value.set("values", difference.values);
    value.set("largest", std::isfinite(difference.largest) ? Value(difference.largest)
                                                           : Value(fmt::format("{}", difference.largest)));
  }
  return value;
}

}  // namespace

int diff_checkpoints(EngineCall& call) {
  const StoredContent left = read_stored(find_stored(call.text("left").value()));
  const StoredContent right = read_stored(find_stored(call.text("right").value()));
  std::size_t equal = 0;
  const std::vector<TensorDifference> tensors = differences(left.tensors, right.tensors, equal);
  const std::vector<std::string> changes = value_changes(left.values, right.values);
  std::string text = fmt::format("{} tensors are equal, {} differ\n", equal, tensors.size());
  Value list = Value::list();
  for (const TensorDifference& difference : tensors) {
    text += line_of(difference);
    list.push_back(value_of(difference));
  }
  if (!changes.empty()) text += "\nelse\n";
  for (const std::string& change : changes) text += "  " + change + "\n";
  call.print(text);
  call.answer().set("equal_tensors", static_cast<std::int64_t>(equal));
  call.answer().set("tensors", std::move(list));
  call.answer().set("values", Value(changes));
  return 0;
}

}  // namespace nexuml
