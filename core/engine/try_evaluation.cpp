// Golden cases of functions and evaluation algorithms.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <nexuml/evaluation.h>
#include <nexuml/function.h>

#include <filesystem>

#include "engine/case_layer.h"
#include "engine/try_case.h"

namespace nexuml {

namespace {

// The function target of that top-level name, whichever library gives it.
std::string function_path(const ComponentRegistry& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const auto* target : registry.targets()) {
    const TargetNode& node = *target->entry.node;
    if (node.kind != TargetKind::function) continue;
    const std::string top = node.path.substr(node.path.find(':') + 1);
    if (top == name) return node.path;
    known.push_back(top);
  }
  throw Error("E871", fmt::format("no library has a function '{}'", name), {}, did_you_mean(name, known));
}

// Nested results of a case against flat ones: {"per_machine": {"m0_s0": {"auc": 1}}} is
// per_machine/m0_s0/auc.
void compare_flat(const std::string& place, const Value& expected, const OrderedMap<double>& results,
                  CaseReport& report) {
  if (expected.is_map()) {
    for (const auto& entry : expected.entries())
      compare_flat(place.empty() ? entry.key : place + "/" + entry.key, entry.value, results, report);
    return;
  }
  if (!expected.is_number()) return;  // names and warnings are no results
  const double* found = results.find(place);
  if (found)
    report.compare(place, *found, expected.as_number());
  else
    report.fail("there is no result " + place);
}

}  // namespace

void try_function(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const Value* args = golden.find("args");
  const auto target = registry.make<TargetKind::function>(function_path(registry, golden.text("function")),
                                                          Value::list(), args ? *args : Value::map());
  report.phase = CasePhase::build;
  const std::shared_ptr<Function> function = target->build({});
  report.phase = CasePhase::forward;
  const Value result = (*function)(golden.tensors_of("in."));
  if (const Value* expected = golden.document.find("expected"))
    report.compare(expected->is_map() ? "" : "value", result, *expected);
}

void try_eval_algorithm(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const Value& args = golden.document.at("args");
  const AnyEvalAlgorithm definition =
      case_definition(args.at("component"), ComponentKind::eval_algorithm, registry);
  report.phase = CasePhase::build;
  EvalBuildContext context;
  context.name = golden.name;
  context.targets = &registry;
  const auto text_of = [&](const char* key) {
    const Value* found = args.find(key);
    return found && found->is_string() ? std::optional(found->as_string()) : std::nullopt;
  };
  context.feature_key = text_of("feature_key");
  context.label_key = text_of("label_key");
  context.run_folder = std::filesystem::temp_directory_path();
  const std::shared_ptr<EvalAlgorithm> algorithm = definition->build(context);
  report.phase = CasePhase::forward;
  const at::NoGradGuard no_grad;
  const Batch all = case_batch(golden);
  const Value* size = args.find("batch_size");
  const std::int64_t rows = all.batch_size(), step = size && size->is_integer() ? size->as_integer() : rows;
  for (std::int64_t first = 0; first < rows; first += step) {
    const Batch batch = rows_of(all, first, std::min(step, rows - first));
    algorithm->eval_batch(
        {.x = batch.x, .y = batch.y ? &*batch.y : nullptr, .metadata = {}, .size = batch.batch_size()});
  }
  algorithm->eval_end();
  if (const Value* expected = golden.find("expected"))
    compare_flat("", *expected, algorithm->results(), report);
}

}  // namespace nexuml
