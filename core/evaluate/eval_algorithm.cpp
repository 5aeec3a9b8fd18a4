#include <fmt/format.h>
#include <nexuml/evaluation.h>

namespace nexuml {

namespace {

const at::Tensor& require(const TensorDict* tensors, const std::string& key, const std::string& algorithm,
                          std::string_view kind) {
  if (const at::Tensor* found = tensors ? tensors->find(key) : nullptr) return *found;
  const std::vector<std::string> present = tensors ? tensors->keys() : std::vector<std::string>{};
  throw Error(
      "E851",
      fmt::format("the evaluation algorithm '{}' reads the {} '{}', and the batch has {}", algorithm, kind,
                  key, present.empty() ? std::string("none") : fmt::format("{}", fmt::join(present, ", "))),
      {}, did_you_mean(key, present));
}

}  // namespace

std::vector<std::string> EvalBuildContext::names_of(const std::string& label) const {
  if (const auto* names = class_names.find(label)) return *names;
  std::vector<std::string> numbers;
  if (const std::int64_t* count = num_classes.find(label))
    for (std::int64_t i = 0; i < *count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

const at::Tensor& EvalBatch::tensor(const std::string& key, const std::string& algorithm) const {
  if (const at::Tensor* found = x.find(key)) return *found;
  if (const at::Tensor* found = y ? y->find(key) : nullptr) return *found;
  return require(&x, key, algorithm, "key");
}

const at::Tensor& EvalBatch::label(const std::string& key, const std::string& algorithm) const {
  return require(y, key, algorithm, "label");
}

EvalAlgorithm::~EvalAlgorithm() = default;
void EvalAlgorithm::fit_batch(const EvalBatch&) {}
void EvalAlgorithm::fit_end() {}
void EvalAlgorithm::eval_end() {}
void EvalAlgorithm::write_artifacts(const std::filesystem::path&) const {}

DecisionRule::~DecisionRule() = default;

}  // namespace nexuml
