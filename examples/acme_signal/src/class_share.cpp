#include "class_share.h"

#include <nexuml/evaluation.h>

#include <fstream>

namespace acme {

namespace {

class ClassShareRuntime final : public nexuml::EvalAlgorithm {
 public:
  ClassShareRuntime(std::string name, std::string logits)
      : name_(std::move(name)), logits_(std::move(logits)) {}

  void eval_batch(const nexuml::EvalBatch& batch) override {
    const at::Tensor logits = batch.tensor(logits_, name_);  // [batch, classes]
    const at::Tensor counts = torch::bincount(logits.argmax(1).cpu(), {}, logits.size(1));
    counts_ = counts_.defined() ? counts_ + counts : counts;
  }

  nexuml::OrderedMap<double> results() const override {
    if (!counts_.defined()) return {};
    return {{"largest_share", shares().max().item<double>()},
            {"smallest_share", shares().min().item<double>()}};
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    std::ofstream table(folder / "class_share.csv");
    table << "class,share\n";
    for (std::int64_t index = 0; counts_.defined() && index < counts_.numel(); ++index)
      table << index << ',' << shares()[index].item<double>() << '\n';
  }

 private:
  at::Tensor shares() const { return counts_.to(torch::kDouble) / counts_.sum(); }

  std::string name_, logits_;
  at::Tensor counts_;  // [classes]
};

}  // namespace

void ClassShare::describe(nexuml::Schema<ClassShare>& s) {
  s.summary("How often each class was predicted, and how even that is.");
  s.field("logits", &ClassShare::logits).doc("Key of the scores, [batch, classes].").min_size(1);
}

std::shared_ptr<nexuml::EvalAlgorithm> ClassShare::build(const nexuml::EvalBuildContext& context) const {
  return std::make_shared<ClassShareRuntime>(context.name, context.feature_key.value_or(logits));
}

}  // namespace acme
