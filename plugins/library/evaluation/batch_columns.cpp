#include "evaluation/batch_columns.h"

#include <fmt/format.h>

#include <cmath>

namespace nexuml_library {

namespace {

std::vector<std::string> number_texts(const at::Tensor& tensor, const std::vector<std::string>* names,
                                      const std::string& key) {
  if (tensor.numel() != tensor.size(0))
    throw nexuml::Error("E853", fmt::format("'{}' holds {} numbers a sample; one is needed to group by", key,
                                            tensor.numel() / std::max<std::int64_t>(1, tensor.size(0))));
  const at::Tensor numbers = tensor.to(at::kCPU, at::kDouble).contiguous();
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    const double number = numbers.const_data_ptr<double>()[i];
    const bool named =
        names && number >= 0 && number == std::floor(number) && number < static_cast<double>(names->size());
    texts.push_back(named ? (*names)[static_cast<std::size_t>(number)] : fmt::format("{:g}", number));
  }
  return texts;
}

}  // namespace

std::vector<std::string> column_texts(const nexuml::EvalBatch& batch, const nexuml::EvalBuildContext& context,
                                      const std::string& key, const std::string& source) {
  const auto wanted = [&](const char* one) { return source.empty() || source == one; };
  std::vector<std::string> present;
  if (wanted("y") && batch.y) {
    if (const at::Tensor* label = batch.y->find(key))
      return number_texts(*label, context.class_names.find(key), key);
    for (const std::string& name : batch.y->keys()) present.push_back(name);
  }
  if (wanted("metadata")) {
    if (const nexuml::MetadataColumn* column = batch.metadata.find(key)) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(column)) return *texts;
      return number_texts(std::get<at::Tensor>(*column), nullptr, key);
    }
    for (const auto& [name, column] : batch.metadata) present.push_back(name);
  }
  if (wanted("x"))
    if (const at::Tensor* feature = batch.x.find(key)) return number_texts(*feature, nullptr, key);
  throw nexuml::Error(
      "E851",
      fmt::format("the evaluation algorithm '{}' groups by '{}', which is {}; there are {}", context.name,
                  key, source.empty() ? "no label and no metadata" : fmt::format("not in {}", source),
                  present.empty() ? std::string("none") : fmt::format("{}", fmt::join(present, ", "))),
      {}, nexuml::did_you_mean(key, present));
}

std::string axis_source(const nexuml::EvalBuildContext& context, const std::string& key) {
  for (const nexuml::AxisKeySpec& axis : context.axis_keys)
    if (axis.key == key) return axis.source;
  return {};
}

}  // namespace nexuml_library
