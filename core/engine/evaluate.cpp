// evaluate: the test numbers of a run folder, from its weights.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "engine/engine_call.h"
#include "engine/interrupt.h"
#include "engine/prepared_data.h"
#include "engine/run_folder.h"
#include "engine/scenario_input.h"
#include "engine/training_run.h"

namespace nexuml {

namespace {

Value numbers_of(EngineCall& call, const ScenarioInput& input, const RunFolder& folder, std::int64_t index) {
  const Interrupt interrupt;
  TrainingRun run(input, open_data(input, call.diagnostics(), interrupt.token()), call.diagnostics(),
                  interrupt.token(), FirstWeights::checkpoint);
  run.load_model(folder.checkpoints().load(index));
  Trainer trainer(run.strategy(), run.data(), run.trainer_options());
  Value numbers = Value::map();
  for (const auto& [name, value] : run.test(trainer, folder.path())) {
    numbers.set(name, metric_value(value));
    call.print(fmt::format("{}: {:.6g}\n", name, value));
  }
  return numbers;
}

}  // namespace

int evaluate(EngineCall& call) {
  const RunFolder folder = RunFolder::open(call.text("run_dir").value());
  const auto index = folder.checkpoints().latest();
  if (!index)
    throw Error("E764", "the run has no checkpoint to evaluate", Where::in_file(folder.path().string()));
  const Value origin = folder.provenance();
  if (const Value* threads = origin.find("threads");
      threads && threads->is_integer() && !call.integer("threads"))
    at::set_num_threads(static_cast<int>(threads->as_integer()));
  ScenarioInput input = open_scenario_input(call, folder.scenario_file().string(), ScenarioWork::evaluate);
  folder.adopt_origin(input, call);
  call.answer().set("run_folder", folder.path().string());
  call.answer().set("checkpoint", *index);
  call.answer().set("results", with_places(input, [&] { return numbers_of(call, input, folder, *index); }));
  return call.diagnostics().has_errors() ? 1 : 0;  // an algorithm failed, the others did not
}

}  // namespace nexuml
