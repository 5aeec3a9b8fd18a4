#include "@FILE@.h"

#include <nexuml/module.h>

namespace @NAMESPACE@ {

namespace {

class @TYPE@Module final : public torch::nn::Module {
 public:
  explicit @TYPE@Module(double limit) : limit_(limit) {}
  at::Tensor forward(const at::Tensor& input) { return input.clamp(-limit_, limit_); }

 private:
  double limit_;
};

}  // namespace

void @TYPE@::describe(nexuml::Schema<@TYPE@>& s) {
  s.summary("Limits values to a range around zero.");
  s.field("limit", &@TYPE@::limit).doc("Largest magnitude that comes out.").greater_than(0);
}

std::shared_ptr<nexuml::TensorModule> @TYPE@::build(const nexuml::ModuleBuildContext&) const {
  return nexuml::tensor_module(std::make_shared<@TYPE@Module>(limit));
}

}  // namespace @NAMESPACE@
