// Modules in a row.
#include <nexuml/model_recipe.h>
#include <nexuml/module.h>
#include <nexuml/recipe.h>
#include <nexuml/registration.h>

#include <string>
#include <vector>

#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

struct Sequential {
  std::vector<TargetCall<TargetKind::module>> layers;

  static void describe(Schema<Sequential>& s) {
    s.summary("Modules in a row, each fed with what the one before gave.");
    s.field("layers", &Sequential::layers)
        .doc("Modules of this table; Python's positional arguments.")
        .required();
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext& context) const;
};

// Children are named 0, 1, ... as in Python, so that state dicts agree.
class Row final : public torch::nn::Module, public BuiltFrom<Sequential> {
 public:
  Row(const Sequential& arguments, const ModuleBuildContext& context) : BuiltFrom(arguments) {
    for (const auto& layer : arguments.layers) {
      parts_.push_back(layer.build(*context.targets, context));
      register_module(std::to_string(parts_.size() - 1), parts_.back()->module());
    }
  }
  at::Tensor forward(const at::Tensor& input) {
    at::Tensor value = input;
    for (const auto& part : parts_) value = part->forward(value);
    return value;
  }

 private:
  std::vector<std::shared_ptr<TensorModule>> parts_;
};

std::shared_ptr<TensorModule> Sequential::build(const ModuleBuildContext& context) const {
  return tensor_module(std::make_shared<Row>(*this, context));
}

}  // namespace

void register_sequential_target(Registration& registry) {
  add_module<Sequential>(registry, "container", "Sequential");
}

}  // namespace nexuml::torch_targets
