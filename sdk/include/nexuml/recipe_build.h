// Building what a recipe describes.
//
//     std::shared_ptr<torch::nn::Module> model = build_model(recipe, registry);
//     auto optimizer = build<TargetKind::optimizer>(optimizer_recipe, registry, {{"params", parameters}});
//     auto scheduler =
//         build<TargetKind::scheduler>(scheduler_recipe, registry, {{"optimizer", optimizer.get()}});
//
// Some arguments cannot be written down; they are passed here, by name. What each kind of target takes:
//
//     module           device (optional: where the parameters shall be)
//     optimizer        params
//     scheduler        optimizer; max_epochs, steps_per_epoch, warmup_epochs (optional)
//     loss             name (optional)
//     weight_schedule  max_epochs, steps_per_epoch (optional)
//     callback         run_folder, seed (optional)
//     hook             run_folder (optional)
//
// One that is missing, one that the target does not take and one of another type are one Error E743 that
// names them all; nothing is built then. What a constructor throws leaves as Error E746 with the target and
// the recipe's time. [build thread]
#pragma once

#include <nexuml/export.h>
#include <nexuml/module.h>
#include <nexuml/recipe.h>
#include <nexuml/registry.h>
#include <nexuml/training.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace nexuml {

struct InjectedArgument {
  std::string name;
  std::variant<std::vector<NamedParameter>, Optimizer*, at::Device, std::int64_t, std::string> value;
};
using InjectedArguments = std::vector<InjectedArgument>;

// For the kinds of the table above.
template <TargetKind K>
NEXUML_EXPORT std::shared_ptr<typename TargetContract<K>::Product> build(
    const Recipe& recipe, const ComponentRegistry& registry, const InjectedArguments& injected = {});

// A model: the module of a module target, or a compiled pipeline. A pipeline is compiled with its scenario's
// seed (`training.seed`) and needs no file beside the recipe.
NEXUML_EXPORT std::shared_ptr<torch::nn::Module> build_model(const Recipe& recipe,
                                                             const ComponentRegistry& registry,
                                                             const InjectedArguments& injected = {});

}  // namespace nexuml
