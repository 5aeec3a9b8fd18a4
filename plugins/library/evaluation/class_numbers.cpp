#include "evaluation/class_numbers.h"

#include <fmt/format.h>

namespace nexuml_library {

namespace {

std::vector<std::int64_t> to_vector(const at::Tensor& numbers) {
  const at::Tensor held = numbers.to(at::kCPU, at::kLong).contiguous();
  return {held.const_data_ptr<std::int64_t>(), held.const_data_ptr<std::int64_t>() + held.numel()};
}

}  // namespace

std::vector<std::int64_t> class_numbers(const at::Tensor& tensor, const std::string& key) {
  if (tensor.dim() == 2 && tensor.size(1) > 1) return to_vector(tensor.argmax(1));
  if (tensor.dim() < 1 || tensor.dim() > 2)
    throw nexuml::Error("E853", fmt::format("'{}' is {}; classes are expected as [batch, classes] or [batch]",
                                            key, nexuml::to_string(nexuml::Shape(tensor.sizes().vec()))));
  const at::Tensor numbers = tensor.reshape({-1});
  if (numbers.is_floating_point() && !numbers.eq(numbers.round()).all().item<bool>())
    throw nexuml::Error("E853",
                        fmt::format("'{}' holds numbers that are not whole; class numbers are expected", key),
                        {}, "name the key of logits with more than one class, or of class numbers");
  return to_vector(numbers);
}

std::optional<ClassLabel> class_label(const nexuml::EvalBatch& batch,
                                      const nexuml::EvalBuildContext& context) {
  if (!batch.y) return std::nullopt;
  if (context.label_key)
    if (const at::Tensor* values = batch.y->find(*context.label_key))
      return ClassLabel{*context.label_key, *values};
  for (const auto& [key, count] : context.num_classes)
    if (const at::Tensor* values = batch.y->find(key)) return ClassLabel{key, *values};
  return std::nullopt;
}

std::string class_label_key(const nexuml::EvalBuildContext& context) {
  if (context.label_key) return *context.label_key;
  if (!context.num_classes.empty()) return context.num_classes.begin()->first;
  if (!context.class_names.empty()) return context.class_names.begin()->first;
  throw nexuml::Error(
      "E851",
      fmt::format("the evaluation algorithm '{}' needs a label that is a class, and the data names "
                  "none",
                  context.name),
      {}, "set label_key");
}

}  // namespace nexuml_library
