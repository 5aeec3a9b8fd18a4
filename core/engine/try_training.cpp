// Golden cases of optimizers, schedulers and data sources.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <nexuml/data.h>
#include <nexuml/training.h>

#include <numeric>

#include "engine/try_case.h"

namespace nexuml {

namespace {

// Carries learning rates for a scheduler and updates nothing.
class IdleOptimizer final : public Optimizer {
 public:
  using Optimizer::Optimizer;
  void step() override {}
};

std::vector<Optimizer::Group> groups_with(const Value& rates) {
  std::vector<Optimizer::Group> groups;
  for (const Value& rate : rates.items()) {
    const std::string name = fmt::format("p{}", groups.size());
    groups.push_back(
        {.parameters = {{name, at::zeros({1})}}, .lr = rate.as_number(), .initial_lr = rate.as_number()});
  }
  return groups;
}

}  // namespace

void try_scheduler(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const auto target =
      registry.make<TargetKind::scheduler>(golden.text("factory"), Value::list(), case_arguments(golden));
  report.phase = CasePhase::build;
  IdleOptimizer optimizer(groups_with(golden.document.at("base_lrs")));
  const std::int64_t steps = golden.document.at("steps").as_integer();
  const std::shared_ptr<Scheduler> scheduler = target->build({.optimizer = optimizer, .max_epochs = steps});
  report.phase = CasePhase::forward;
  const Value* expected = golden.find("expected_lrs");
  const Value* metrics = golden.find("metrics");
  for (std::size_t i = 0; expected && i < expected->size(); ++i) {
    if (i > 0) {
      if (metrics && scheduler->monitor())
        scheduler->step_with_metric(metrics->items().at(i - 1).as_number());
      else
        scheduler->step();
    }
    const Value::List& rates = expected->items()[i].items();
    for (std::size_t group = 0; group < rates.size(); ++group)
      report.compare(fmt::format("lr[{}][{}]", i, group), optimizer.groups().at(group).lr,
                     rates[group].as_number());
  }
}

void try_optimizer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const auto target =
      registry.make<TargetKind::optimizer>(golden.text("factory"), Value::list(), case_arguments(golden));
  report.phase = CasePhase::build;
  OptimizerBuildContext context;
  for (const auto& [name, value] : golden.tensors_of("param0."))
    context.parameters.push_back({name, value.clone().requires_grad_()});
  const std::shared_ptr<Optimizer> optimizer = target->build(context);
  report.phase = CasePhase::forward;
  const std::int64_t steps = golden.document.at("steps").as_integer();
  for (std::int64_t i = 0; i < steps; ++i) {
    for (NamedParameter& parameter : context.parameters)
      parameter.tensor.mutable_grad() =
          golden.tensors.at(fmt::format("grad.{}.{}", i, parameter.name)).clone();
    optimizer->step();
    for (const NamedParameter& parameter : context.parameters) {
      const std::string name = fmt::format("param.{}.{}", i, parameter.name);
      report.compare(name, parameter.tensor, golden.tensors.at(name));
    }
  }
}

void try_data_source(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const AnyDataSource definition =
      case_definition(golden.document.at("component"), ComponentKind::data_source, registry);
  report.phase = CasePhase::build;
  DataContext context;
  const Value params = definition.params(&registry);
  if (const Value* key = params.find("feature_key"); key && key->is_string())
    context.feature_key = key->as_string();
  const std::shared_ptr<Dataset> dataset = definition->build(context);
  report.phase = CasePhase::forward;
  if (const Value* length = golden.find("length"); length && length->as_integer() != dataset->size())
    return report.fail(
        fmt::format("the data has {} samples, expected {}", dataset->size(), length->as_integer()));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(dataset->size()));
  std::iota(rows.begin(), rows.end(), 0);
  const Batch batch = dataset->gather(rows);
  const auto compare = [&](const char* prefix, const TensorDict& tensors) {
    for (const auto& [key, expected] : golden.tensors_of(prefix)) {
      const at::Tensor* found = tensors.find(key);
      report.compare(prefix + key, found ? *found : at::Tensor(), expected);
    }
  };
  compare("out.", batch.x);
  compare("label.", batch.y.value_or(TensorDict{}));
}

}  // namespace nexuml
