// How a live model gets its recipe.
//
//     struct TwoLayers {                                    // the arguments: a module target
//       std::int64_t hidden = 16;
//       static void describe(nexuml::Schema<TwoLayers>& s) { s.field("hidden", &TwoLayers::hidden); }
//       std::shared_ptr<nexuml::TensorModule> build(const nexuml::ModuleBuildContext&) const;
//     };
//     class TwoLayersModule : public torch::nn::Module, public nexuml::BuiltFrom<TwoLayers> {
//      public:
//       explicit TwoLayersModule(const TwoLayers& arguments) : BuiltFrom(arguments) { ... }
//       at::Tensor forward(const at::Tensor& input);
//     };
//
// The arguments are kept whole, so none can be forgotten. The order in which a recipe is looked for:
//   1. `checkpoint_spec()` of a class derived from HasCheckpointSpec: a recipe, or null to decline;
//   2. the arguments that a class derived from BuiltFrom was built from. Where an argument is a module
//      (TargetCall) and the live model has a child of the argument's name (`members[0]` -> child
//      `members.0`), the child is asked first, by the same rules, at every depth. A child that stands in
//      several places is one module again when rebuilt.
// The result is verified: a copy is built and thrown away, without touching the random streams, and has to
// have the same class, the same parameters, buffers and children by name, shape, dtype and sharing, and the
// same recipe.
#pragma once

#include <nexuml/export.h>
#include <nexuml/recipe.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace nexuml {

class CompiledPipeline;

// A module whose recipe cannot be told from its arguments: one that transforms them, or wraps something live.
class NEXUML_EXPORT HasCheckpointSpec {
 public:
  virtual ~HasCheckpointSpec();
  // A recipe (Recipe::to_value()), or null: this module declines, and its arguments are looked at. Anything
  // else is an Error E747. [any thread]
  virtual Value checkpoint_spec(const ComponentRegistry& registry) const = 0;
};

// What BuiltFrom is to code that does not know the arguments' type.
class NEXUML_EXPORT DescribedModule {
 public:
  virtual ~DescribedModule();
  virtual TypeTag arguments_tag() const noexcept = 0;
  virtual std::string arguments_name() const = 0;
  virtual Value written_arguments(const Lowering* lowering) const = 0;
};

template <class Arguments>
class BuiltFrom : public DescribedModule {
 public:
  explicit BuiltFrom(Arguments arguments) : arguments_(std::move(arguments)) {}
  const Arguments& arguments() const noexcept { return arguments_; }

  TypeTag arguments_tag() const noexcept override { return type_tag<Arguments>(); }
  std::string arguments_name() const override { return schema_of<Arguments>()->name; }
  Value written_arguments(const Lowering* lowering) const override { return write(arguments_, lowering); }

 private:
  Arguments arguments_;
};

// The recipe of a model that says what it was built from, verified. Throws Error E747 and what reading
// recipes throws.
NEXUML_EXPORT Recipe model_recipe(const torch::nn::Module& model, const ComponentRegistry& registry,
                                  const RecipeOptions& options = {});

// Builds a copy and compares; a recipe given by hand is held to the same. Throws Error E747 with every
// difference.
NEXUML_EXPORT void verify_model_recipe(const torch::nn::Module& model, const Recipe& recipe,
                                       const ComponentRegistry& registry);

// The recipe of a compiled pipeline: its scenario, with the input shapes and the number of classes that its
// data had, so that no data is opened when it is rebuilt. Not verified.
NEXUML_EXPORT Recipe pipeline_recipe(const CompiledPipeline& pipeline, const ScenarioSpec& scenario,
                                     const ComponentRegistry& registry, const RecipeOptions& options = {});

}  // namespace nexuml
