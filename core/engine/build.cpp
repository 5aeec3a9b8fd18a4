// build: the pipelines of one or more scenarios, with their weights but without training.
#include <fmt/format.h>
#include <nexuml/compile.h>
#include <nexuml/tensor_io.h>

#include <deque>

#include "checkpoint/weights.h"
#include "data/data_module.h"
#include "engine/engine_call.h"
#include "engine/interrupt.h"
#include "engine/scenario_input.h"
#include "tensor_io/hashing_writer.h"

namespace nexuml {

namespace {

// Shapes that the sources or the scenario declare: nothing is opened then. Else those of the data.
std::optional<DataDeclaration> data_of(const ScenarioInput& input, Diagnostics& advice,
                                       std::stop_token stop) {
  if (auto declared = declared_data(input.spec)) return declared;
  if (!input.spec.data.input_shapes.empty()) return std::nullopt;
  const DataModuleOptions options{
      .registry = &input.registry, .data_root = input.data_root, .seed = input.seed, .stop = std::move(stop)};
  return with_places(input, [&] { return DataModule(input.spec.data, 1, options, advice).declaration(); });
}

std::string diagram_for(const std::string& path, const CompiledPipeline& pipeline, const ScenarioSpec& spec) {
  if (path.ends_with(".svg")) return svg_diagram(pipeline, spec);
  if (path.ends_with(".json")) return write_json(diagram_value(pipeline, spec)) + "\n";
  return mermaid_diagram(pipeline, spec);
}

Value describe(EngineCall& call, const ScenarioInput& input, const CompiledPipeline& pipeline) {
  std::int64_t parameters = 0;
  for (const at::Tensor& parameter : pipeline.parameters()) parameters += parameter.numel();
  call.print(
      fmt::format("{}: {} layers, {} parameters\n", input.source, pipeline.layers().size(), parameters));
  Value keys = Value::map();
  for (const auto& [key, spec] : pipeline.specs()) keys.set(key, to_string(spec));
  return Value::map({{"scenario", input.source},
                     {"layers", static_cast<std::int64_t>(pipeline.layers().size())},
                     {"parameters", parameters},
                     {"keys", std::move(keys)}});
}

void require_single(const EngineCall& call, const std::string& option, std::size_t scenarios) {
  if (call.text(option) && scenarios != 1)
    throw Error("E881", fmt::format("--{} takes one scenario, {} were given", option, scenarios));
}

}  // namespace

int build_scenarios(EngineCall& call) {
  const std::vector<std::string> sources = call.texts("scenarios");
  require_single(call, "save_weights", sources.size());
  require_single(call, "diagram", sources.size());
  const Interrupt interrupt;
  std::deque<ScenarioInput> scenarios;  // compile inputs refer to them
  std::vector<CompileInput> inputs;
  for (const std::string& source : sources) {
    const ScenarioInput& input =
        scenarios.emplace_back(open_scenario_input(call, source, ScenarioWork::build));
    inputs.emplace_back(input.spec, &input.document, data_of(input, call.diagnostics(), interrupt.token()));
  }
  std::vector<BuildSpan> spans;
  CompileOptions options{.registry = call.loader().registry(),
                         .seed = scenarios.front().seed,
                         .threads = static_cast<int>(call.integer("threads").value_or(0)),
                         .stop = interrupt.token(),
                         .advice = &call.diagnostics()};
  if (call.text("timing")) options.spans = &spans;
  const auto pipelines = compile_all(inputs, options);

  Value built = Value::list();
  for (std::size_t i = 0; i < pipelines.size(); ++i)
    built.push_back(describe(call, scenarios[i], *pipelines[i]));
  call.answer().set("built", std::move(built));
  if (const auto path = call.text("save_weights"))
    write_safetensors(*path, state_dict(*pipelines.front()), {{"format", "pt"}});
  if (const auto path = call.text("diagram"))
    tensor_io::write_text_file(*path, diagram_for(*path, *pipelines.front(), scenarios.front().spec));
  if (const auto path = call.text("timing")) tensor_io::write_text_file(*path, build_trace(spans));
  return 0;
}

}  // namespace nexuml
