#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/compile.h>
#include <nexuml/recipe_build.h>

#include <algorithm>
#include <array>
#include <span>

#include "data/guard.h"
#include "recipe/built_in_targets.h"
#include "train/shared_modules.h"

namespace nexuml {
namespace {

using InjectedValue = decltype(InjectedArgument::value);

// In the order of the alternatives of InjectedValue.
constexpr std::array<std::string_view, std::variant_size_v<InjectedValue>> kTypeNames{
    "named parameters", "an optimizer", "a device", "a whole number", "text"};

struct Injectable {
  std::string_view name;
  std::size_t type;  // index into kTypeNames
  bool required = false;
};

std::span<const Injectable> injectable(TargetKind kind) {
  static constexpr std::array module{Injectable{"device", 2}};
  static constexpr std::array optimizer{Injectable{"params", 0, true}};
  static constexpr std::array scheduler{Injectable{"optimizer", 1, true}, Injectable{"max_epochs", 3},
                                        Injectable{"steps_per_epoch", 3}, Injectable{"warmup_epochs", 3}};
  static constexpr std::array loss{Injectable{"name", 4}};
  static constexpr std::array weight_schedule{Injectable{"max_epochs", 3}, Injectable{"steps_per_epoch", 3}};
  static constexpr std::array callback{Injectable{"run_folder", 4}, Injectable{"seed", 3}};
  static constexpr std::array hook{Injectable{"run_folder", 4}};
  switch (kind) {
    case TargetKind::module:
      return module;
    case TargetKind::optimizer:
      return optimizer;
    case TargetKind::scheduler:
      return scheduler;
    case TargetKind::loss:
      return loss;
    case TargetKind::weight_schedule:
      return weight_schedule;
    case TargetKind::callback:
      return callback;
    case TargetKind::hook:
      return hook;
    default:
      return {};
  }
}

// What was passed, compared with what the kind of target takes.
class Injection {
 public:
  Injection(const Recipe& recipe, const InjectedArguments& given) : given_(given) {
    std::vector<std::string> wrong;
    const auto takes = injectable(recipe.kind());
    for (const Injectable& argument : takes)
      if (argument.required && !find(argument.name))
        wrong.push_back(fmt::format("'{}' ({}) was not passed", argument.name, kTypeNames[argument.type]));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const InjectedArgument& argument = given[i];
      const auto known = std::ranges::find(takes, argument.name, &Injectable::name);
      const bool twice =
          std::ranges::find(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(i), argument.name,
                            &InjectedArgument::name) != given.begin() + static_cast<std::ptrdiff_t>(i);
      if (twice)
        wrong.push_back(fmt::format("'{}' was passed twice", argument.name));
      else if (recipe.arguments().find(argument.name))
        wrong.push_back(fmt::format("'{}' was passed, but the recipe has it", argument.name));
      else if (known == takes.end())
        wrong.push_back(
            fmt::format("'{}' was passed, which no {} takes", argument.name, to_string(recipe.kind())));
      else if (known->type != argument.value.index())
        wrong.push_back(fmt::format("'{}' has to be {}, got {}", argument.name, kTypeNames[known->type],
                                    kTypeNames[argument.value.index()]));
      else if (const auto* optimizer = std::get_if<Optimizer*>(&argument.value); optimizer && !*optimizer)
        wrong.push_back(fmt::format("'{}' is null", argument.name));
    }
    if (wrong.empty()) return;
    std::vector<std::string> words;
    for (const Injectable& argument : takes)
      words.push_back(fmt::format("{} ({}{})", argument.name, kTypeNames[argument.type],
                                  argument.required ? "" : ", optional"));
    throw Error(
        "E743",
        fmt::format("{}, written {}, cannot be built with what was passed: {}", recipe.cls_path(),
                    recipe.timestamp(), fmt::join(wrong, "; ")),
        {},
        fmt::format("a {} is passed: {}", to_string(recipe.kind()),
                    words.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(words, ", "))));
  }

  template <class T>
  T get(std::string_view name, T otherwise) const {
    const InjectedArgument* found = find(name);
    return found ? std::get<T>(found->value) : otherwise;
  }

 private:
  const InjectedArgument* find(std::string_view name) const {
    const auto found = std::ranges::find(given_, name, &InjectedArgument::name);
    return found == given_.end() ? nullptr : &*found;
  }

  const InjectedArguments& given_;
};

OptimizerBuildContext context_of(const Injection& injected, const Targets&, OptimizerBuildContext*) {
  return {injected.get("params", std::vector<NamedParameter>())};
}
SchedulerBuildContext context_of(const Injection& injected, const Targets&, SchedulerBuildContext*) {
  return {.optimizer = *injected.get<Optimizer*>("optimizer", nullptr),
          .max_epochs = injected.get<std::int64_t>("max_epochs", 1),
          .steps_per_epoch = injected.get<std::int64_t>("steps_per_epoch", 1),
          .warmup_epochs = injected.get<std::int64_t>("warmup_epochs", 0)};
}
ModuleBuildContext context_of(const Injection&, const Targets& targets, ModuleBuildContext*) {
  return {.layer = {}, .targets = &targets, .stop = {}};
}
LossBuildContext context_of(const Injection& injected, const Targets&, LossBuildContext*) {
  return {injected.get("name", std::string())};
}
WeightScheduleBuildContext context_of(const Injection& injected, const Targets&,
                                      WeightScheduleBuildContext*) {
  return {.max_epochs = injected.get<std::int64_t>("max_epochs", 1),
          .steps_per_epoch = injected.get<std::int64_t>("steps_per_epoch", 1)};
}
CallbackBuildContext context_of(const Injection& injected, const Targets&, CallbackBuildContext*) {
  return {.run_folder = injected.get("run_folder", std::string()),
          .seed = static_cast<std::uint64_t>(injected.get<std::int64_t>("seed", 0)),
          .stop = {}};
}
HookBuildContext context_of(const Injection& injected, const Targets&, HookBuildContext*) {
  return {injected.get("run_folder", std::string())};
}

// What the target builds, with the recipe named in what it throws.
template <class Build>
auto built_from(const Recipe& recipe, Build&& work) {
  auto product = guarded(
      "E746", fmt::format("building {} from its recipe, written {},", recipe.cls_path(), recipe.timestamp()),
      {}, std::forward<Build>(work));
  if (!product)
    throw Error("E746", fmt::format("{} built nothing from its recipe, written {}", recipe.cls_path(),
                                    recipe.timestamp()));
  return product;
}

std::shared_ptr<CompiledPipeline> build_pipeline(const Recipe& recipe, const ComponentRegistry& registry) {
  return built_from(recipe, [&] {
    const auto scenario = FieldTraits<ScenarioSpec>::decode(recipe.arguments().at("scenario"), &registry);
    CompileOptions options;
    options.registry = registry;
    options.seed = static_cast<std::uint64_t>(scenario.training.seed.value_or(0));
    return compile(CompileInput(scenario), options);
  });
}

}  // namespace

template <TargetKind K>
std::shared_ptr<typename TargetContract<K>::Product> build(const Recipe& recipe,
                                                           const ComponentRegistry& registry,
                                                           const InjectedArguments& given) {
  if (recipe.kind() != K)
    throw Error("E736", fmt::format("{} is a {}, a {} is needed here", recipe.cls_path(),
                                    to_string(recipe.kind()), to_string(K)));
  if (recipe.target() == kPipelineTarget)
    throw Error(
        "E736",
        fmt::format("{} has many inputs and outputs and is no module of one tensor", recipe.cls_path()), {},
        "build it with build_model");
  const Injection injected(recipe, given);
  return built_from(recipe, [&] {
    const auto targets = std::make_shared<SharedModules>(registry);
    const auto model = std::static_pointer_cast<const TargetModelOf<K>>(
        targets->make_checked(recipe.target(), targets->mark(recipe)));
    auto product = model->build(
        context_of(injected, *targets, static_cast<typename TargetContract<K>::Context*>(nullptr)));
    if constexpr (K == TargetKind::module)
      if (product && product->module()) product->module()->to(injected.get("device", at::Device(at::kCPU)));
    return product;
  });
}

template NEXUML_EXPORT std::shared_ptr<TensorModule> build<TargetKind::module>(const Recipe&,
                                                                               const ComponentRegistry&,
                                                                               const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<Optimizer> build<TargetKind::optimizer>(const Recipe&,
                                                                               const ComponentRegistry&,
                                                                               const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<Scheduler> build<TargetKind::scheduler>(const Recipe&,
                                                                               const ComponentRegistry&,
                                                                               const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<LossFunction> build<TargetKind::loss>(const Recipe&,
                                                                             const ComponentRegistry&,
                                                                             const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<WeightSchedule> build<TargetKind::weight_schedule>(
    const Recipe&, const ComponentRegistry&, const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<Callback> build<TargetKind::callback>(const Recipe&,
                                                                             const ComponentRegistry&,
                                                                             const InjectedArguments&);
template NEXUML_EXPORT std::shared_ptr<TrainingHook> build<TargetKind::hook>(const Recipe&,
                                                                             const ComponentRegistry&,
                                                                             const InjectedArguments&);

std::shared_ptr<torch::nn::Module> build_model(const Recipe& recipe, const ComponentRegistry& registry,
                                               const InjectedArguments& given) {
  if (recipe.kind() == TargetKind::module && recipe.target() == kPipelineTarget) {
    const Injection injected(recipe, given);
    auto pipeline = build_pipeline(recipe, registry);
    pipeline->to(injected.get("device", at::Device(at::kCPU)));
    return pipeline;
  }
  auto module = build<TargetKind::module>(recipe, registry, given)->module();
  if (!module)
    throw Error("E746", fmt::format("{} built nothing from its recipe, written {}", recipe.cls_path(),
                                    recipe.timestamp()));
  return module;
}

}  // namespace nexuml
