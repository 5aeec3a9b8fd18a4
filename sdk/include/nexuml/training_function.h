// TrainingFunction: the forward pass of a hand-written training, as an object with a name.
//
//     class Step final : public nexuml::TrainingFunction {
//      public:
//       TensorDict forward(const StrategyModels& models, const Batch& batch) const override {
//         const auto net = std::static_pointer_cast<Net>(models.at("net"));
//         return {{"prediction", net->forward(batch.x.get("x"))}};
//       }
//     };
//     struct StepArguments {                                  // a target of kind function
//       static void describe(nexuml::Schema<StepArguments>&) {}
//       std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const {
//         return std::make_shared<Step>();
//       }
//     };
//     registry.add_target<StepArguments>("acme.train:step");
//     strategy.training_fn = TrainingFunctionRef::named("acme.train:step");
//
// A checkpoint records the name, never code. An object without a name (a lambda, a local or a bound function)
// can be used, and passed in again when a checkpoint is loaded, but not be written down.
#pragma once

#include <nexuml/export.h>
#include <nexuml/function.h>
#include <nexuml/ordered_map.h>
#include <nexuml/registry.h>
#include <nexuml/tensor_dict.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>

namespace nexuml {

using StrategyModels = OrderedMap<std::shared_ptr<torch::nn::Module>>;

// One forward pass: what the losses compare, by name. A target of kind function builds one.
class NEXUML_EXPORT TrainingFunction : public Function {
 public:
  // [training thread]
  virtual TensorDict forward(const StrategyModels& models, const Batch& batch) const = 0;
  Value operator()(const TensorDict& inputs) const final;  // throws Error E748: it needs models
};

// A function by the name of its target, or an object that has no name and can only be passed.
class NEXUML_EXPORT TrainingFunctionRef {
 public:
  TrainingFunctionRef() = default;  // none
  static TrainingFunctionRef named(std::string target) {
    TrainingFunctionRef ref;
    ref.name_ = std::move(target);
    return ref;
  }
  TrainingFunctionRef(std::shared_ptr<const TrainingFunction> object) : object_(std::move(object)) {}

  bool has_value() const noexcept { return object_ || !name_.empty(); }
  const std::string& name() const noexcept { return name_; }  // empty for an object
  // The object, or what the named target builds. Throws Error E748 for a target that builds another function.
  std::shared_ptr<const TrainingFunction> resolve(const ComponentRegistry& registry) const;

 private:
  std::string name_;
  std::shared_ptr<const TrainingFunction> object_;
};

// What the losses compare the outputs of the training function with, by name. Never written down: a
// checkpoint notes that there was one, and loading asks for it. [training thread]
using LossTargetAssembler = std::function<TensorDict(const Batch& batch)>;

}  // namespace nexuml
