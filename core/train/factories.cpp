#include "train/factories.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "data/guard.h"
#include "scenario/learning_rate.h"

namespace nexuml {

namespace {

Where training_place(const char* key_path) {
  Where where;
  where.key_path = key_path;
  return where;
}

}  // namespace

std::vector<NamedParameter> parameters_of(const torch::nn::Module& module) {
  std::vector<NamedParameter> parameters;
  std::set<const at::TensorImpl*> seen;
  for (const auto& item : module.named_parameters())
    if (seen.insert(item.value().unsafeGetTensorImpl()).second)
      parameters.push_back({item.key(), item.value()});
  return parameters;
}

std::shared_ptr<Optimizer> build_optimizer(const TrainingSpec& spec, const ComponentRegistry& registry,
                                           std::vector<NamedParameter> parameters) {
  return guarded("E840", fmt::format("the optimizer '{}'", spec.optimizer.factory),
                 training_place("training.optimizer"), [&] {
                   OptimizerSpec optimizer = spec.optimizer;
                   if (const auto* target = registry.find_target(optimizer.factory))
                     optimizer = optimizer_with_training_lr(spec, *target->entry.node);
                   return registry
                       .make<TargetKind::optimizer>(optimizer.factory, optimizer.args, optimizer.kwargs)
                       ->build(OptimizerBuildContext{std::move(parameters)});
                 });
}

std::shared_ptr<Scheduler> build_scheduler(const TrainingSpec& spec, const ComponentRegistry& registry,
                                           Optimizer& optimizer, std::int64_t steps_per_epoch) {
  const SchedulerBuildContext context{.optimizer = optimizer,
                                      .max_epochs = spec.max_epochs,
                                      .steps_per_epoch = steps_per_epoch,
                                      .warmup_epochs = resolve_warmup(spec.scheduler, spec.max_epochs)};
  return guarded("E840", fmt::format("the scheduler '{}'", spec.scheduler.factory),
                 training_place("training.scheduler"), [&] {
                   return registry
                       .make<TargetKind::scheduler>(spec.scheduler.factory, spec.scheduler.args,
                                                    spec.scheduler.kwargs)
                       ->build(context);
                 });
}

std::vector<NamedCallback> build_callbacks(const ScenarioSpec& spec, const ComponentRegistry& registry,
                                           const CallbackBuildContext& context) {
  std::vector<NamedCallback> callbacks;
  std::map<std::string, int> uses;
  for (std::size_t i = 0; i < spec.callbacks.size(); ++i) {
    const CallbackSpec& wanted = spec.callbacks[i];
    std::string name = wanted.factory.substr(wanted.factory.find_last_of(".:") + 1);
    if (const int earlier = uses[name]++) name += fmt::format("#{}", earlier);
    const std::string place = fmt::format("callbacks[{}]", i);
    callbacks.push_back({name, guarded("E840", fmt::format("the callback '{}'", wanted.factory),
                                       training_place(place.c_str()), [&] {
                                         return registry
                                             .make<TargetKind::callback>(wanted.factory, wanted.args,
                                                                         wanted.kwargs)
                                             ->build(context);
                                       })});
  }
  return callbacks;
}

std::int64_t resolve_warmup(const SchedulerSpec& spec, std::int64_t max_epochs) {
  if (!spec.warmup) return 0;
  if (const auto* epochs = std::get_if<std::int64_t>(&*spec.warmup))
    return std::max<std::int64_t>(1, *epochs);
  std::string_view text = std::get<std::string>(*spec.warmup);
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw Error("E845",
                fmt::format("warmup should be a number of epochs or a share such as '5%', found '{}'",
                            std::get<std::string>(*spec.warmup)),
                training_place("training.scheduler.warmup"));
  const double epochs = percent ? number / 100.0 * static_cast<double>(max_epochs) : number;
  return std::max<std::int64_t>(1, std::llrint(epochs));
}

}  // namespace nexuml
