#include "@FILE@.h"

#include <nexuml/evaluation.h>

namespace @NAMESPACE@ {

namespace {

class @TYPE@Runtime final : public nexuml::EvalAlgorithm {
 public:
  @TYPE@Runtime(std::string name, std::string key) : name_(std::move(name)), key_(std::move(key)) {}

  void eval_batch(const nexuml::EvalBatch& batch) override {
    sum_ += batch.tensor(key_, name_).to(torch::kDouble).mean().item<double>() * static_cast<double>(batch.size);
    count_ += batch.size;
  }
  nexuml::OrderedMap<double> results() const override {
    return {{"mean", count_ > 0 ? sum_ / static_cast<double>(count_) : 0.0}};
  }

 private:
  std::string name_, key_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

void @TYPE@::describe(nexuml::Schema<@TYPE@>& s) {
  s.summary("The mean of one key over the test data.");
  s.field("key", &@TYPE@::key).doc("A feature or an output of the pipeline.").min_size(1);
}

std::shared_ptr<nexuml::EvalAlgorithm> @TYPE@::build(const nexuml::EvalBuildContext& context) const {
  return std::make_shared<@TYPE@Runtime>(context.name, context.feature_key.value_or(key));
}

}  // namespace @NAMESPACE@
