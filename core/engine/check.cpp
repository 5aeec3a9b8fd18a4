// check: every mistake of a scenario that can be found without a weight or a byte of data.
#include <fmt/format.h>
#include <nexuml/compile.h>

#include "engine/engine_call.h"
#include "engine/scenario_input.h"

namespace nexuml {

int check_scenarios(EngineCall& call) {
  Value checked = Value::list();
  for (const std::string& source : call.texts("scenarios")) {
    const ScenarioInput input = open_scenario_input(call, source, ScenarioWork::train);
    Diagnostics found = check(CompileInput(input.spec, &input.document), {.registry = input.registry});
    const bool failed = found.has_errors();
    call.diagnostics().append(input.located(found));
    if (failed) return 1;
    std::size_t layers = 0;
    for (const auto& [stage, specs] : input.spec.pipeline.stages) layers += specs.size();
    call.print(fmt::format("{}: {} layers in {} stages, no problem found\n", source, layers,
                           input.spec.pipeline.stages.size()));
    checked.push_back(Value::map({{"scenario", source},
                                  {"stages", static_cast<std::int64_t>(input.spec.pipeline.stages.size())},
                                  {"layers", static_cast<std::int64_t>(layers)}}));
  }
  call.answer().set("checked", std::move(checked));
  return 0;
}

}  // namespace nexuml
