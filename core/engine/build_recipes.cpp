// recipe build: what files describe, built in their order. A model's parameters go to the optimizers after
// it, an optimizer to the schedulers after it.
#include <fmt/format.h>
#include <nexuml/recipe_build.h>

#include "engine/engine_call.h"
#include "train/factories.h"

namespace nexuml {
namespace {

// What was built so far, for the recipes that come later.
struct BuiltSoFar {
  std::shared_ptr<torch::nn::Module> model;
  std::shared_ptr<Optimizer> optimizer;
};

Recipe open_recipe(EngineCall& call, const std::string& file) {
  Diagnostics problems;
  const std::string text = read_text_file(file, problems);
  const Value document = problems.has_errors() ? Value() : parse_json(text, file, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  // Checked against the manifests first: nothing is opened for a file that cannot be right.
  const Recipe declared = create_model_spec_from_json(call.loader().catalog(), document);
  call.loader().load_for_recipe(declared.to_value(), problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return create_model_spec_from_json(call.loader().registry(), document);
}

std::int64_t count_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

std::string build_one(const Recipe& recipe, const ComponentRegistry& registry, BuiltSoFar& so_far,
                      Value& answer) {
  switch (recipe.kind()) {
    case TargetKind::module: {
      so_far.model = build_model(recipe, registry);
      Value parameters = Value::map();
      for (const auto& item : so_far.model->named_parameters())
        parameters.set(item.key(), Value(std::vector<std::int64_t>(item.value().sizes().begin(),
                                                                   item.value().sizes().end())));
      const std::int64_t count = count_parameters(*so_far.model);
      answer.set("parameters", std::move(parameters));
      return fmt::format("{} parameters", count);
    }
    case TargetKind::optimizer: {
      InjectedArguments injected;
      if (so_far.model) injected.push_back({"params", parameters_of(*so_far.model)});
      so_far.optimizer = build<TargetKind::optimizer>(recipe, registry, injected);
      return fmt::format("{} groups", so_far.optimizer->groups().size());
    }
    case TargetKind::scheduler: {
      InjectedArguments injected;
      if (so_far.optimizer) injected.push_back({"optimizer", so_far.optimizer.get()});
      const auto scheduler = build<TargetKind::scheduler>(recipe, registry, injected);
      return fmt::format("lr {}", scheduler->last_lr().front());
    }
    case TargetKind::loss:
      (void)build<TargetKind::loss>(recipe, registry);
      return "built";
    case TargetKind::weight_schedule:
      (void)build<TargetKind::weight_schedule>(recipe, registry);
      return "built";
    case TargetKind::callback:
      (void)build<TargetKind::callback>(recipe, registry);
      return "built";
    case TargetKind::hook:
      (void)build<TargetKind::hook>(recipe, registry);
      return "built";
    default:
      throw Error("E743",
                  fmt::format("{} is a {}, which is built only by what uses it", recipe.cls_path(),
                              to_string(recipe.kind())),
                  {}, "`nexuml-run recipe check` checks it");
  }
}

}  // namespace

int build_recipes(EngineCall& call) {
  BuiltSoFar so_far;
  Value all = Value::list();
  for (const std::string& file : call.texts("files")) {
    const Recipe recipe = open_recipe(call, file);
    Value answer = Value::map({{"file", file},
                               {"kind", to_string(recipe.kind())},
                               {"target", recipe.target()},
                               {"recipe", recipe.to_value()}});
    std::string outcome;
    try {
      outcome = build_one(recipe, call.loader().registry(), so_far, answer);
    } catch (const Error& failure) {
      Diagnostics placed;
      for (Diagnostic problem : failure.diagnostics()) {
        if (problem.where.file.empty()) problem.where.file = file;
        placed.add(std::move(problem));
      }
      throw Error(std::move(placed));
    }
    call.print(fmt::format("{}: {} ({}), written {}: {}\n", file, recipe.cls_path(), to_string(recipe.kind()),
                           recipe.timestamp(), outcome));
    all.push_back(std::move(answer));
  }
  call.answer().set("built", std::move(all));
  return 0;
}

}  // namespace nexuml
