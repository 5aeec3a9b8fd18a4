// check: every mistake of a scenario that can be found without a weight or a byte of data.
#include <fmt/format.h>
#include <nexuml/compile.h>

#include "engine/engine_call.h"
#include "engine/scenario_input.h"

namespace nexuml {

namespace {

std::size_t layer_count(const ScenarioSpec& scenario) {
  std::size_t layers = 0;
  for (const auto& [stage, specs] : scenario.pipeline.stages) layers += specs.size();
  return layers;
}

// What was found; its errors too, so that the next scenario is looked at all the same.
Diagnostics check_one(EngineCall& call, const std::string& source, Value& checked) try {
  const ScenarioInput input = open_scenario_input(call, source, ScenarioWork::train);
  Diagnostics found =
      input.located(check(CompileInput(input.spec, &input.document), {.registry = input.registry}));
  if (found.has_errors()) return found;
  const auto stages = static_cast<std::int64_t>(input.spec.pipeline.stages.size());
  const auto layers = static_cast<std::int64_t>(layer_count(input.spec));
  call.print(fmt::format("{}: {} layers in {} stages, {}\n", source, layers, stages,
                         found.empty() ? "no problem found" : "no error found"));
  checked.push_back(Value::map({{"scenario", source}, {"stages", stages}, {"layers", layers}}));
  return found;
} catch (const Error& error) {
  return error.diagnostics();
}

}  // namespace

int check_scenarios(EngineCall& call) {
  Value checked = Value::list();
  bool failed = false;
  for (const std::string& source : call.texts("scenarios")) {
    const Diagnostics found = check_one(call, source, checked);
    failed = failed || found.has_errors();
    call.diagnostics().append(found);
  }
  call.answer().set("checked", std::move(checked));
  return failed ? 1 : 0;
}

}  // namespace nexuml
