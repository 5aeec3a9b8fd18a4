#include "engine/scenario_input.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "engine/graph_mistakes.h"
#include "loading/scenario_source.h"
#include "scenario/document.h"
#include "scenario/learning_rate.h"

namespace nexuml {

namespace {

// The deepest node on the way of a key path such as data.datasets[0].source.
const Value& deepest(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (!path.empty()) {
    const Value* next = nullptr;
    if (path.front() == '[') {
      std::size_t index = 0;
      const auto [end, failure] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
      if (failure == std::errc{} && at->is_list() && index < at->size()) next = &at->items()[index];
      path.remove_prefix(std::min(path.find(']') + 1, path.size()));
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      next = at->find(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
    if (!next) break;
    at = next;
  }
  return *at;
}

std::filesystem::path folder_of(const EngineCall& call, const std::string& source) {
  std::string file = is_scenario_path(source) ? source : std::string();
  if (file.empty()) {
    Diagnostics ignored;
    if (const auto* row = call.loader().catalog().scenario(source, ignored)) file = row->entry->file;
  }
  return file.empty() ? std::filesystem::current_path()
                      : std::filesystem::absolute(file).lexically_normal().parent_path();
}

[[noreturn]] void throw_with_graph_mistakes(LibraryLoader& loader, const ScenarioRequest& request,
                                            Diagnostics mistakes) {
  Diagnostics reported_already;
  const Value document = open_unchecked_scenario(loader, request, reported_already);
  if (!reported_already.has_errors()) mistakes.append(graph_mistakes(loader, document, mistakes));
  mistakes.sort();
  throw Error(std::move(mistakes));
}

}  // namespace

Diagnostics ScenarioInput::located(const Diagnostics& problems) const {
  Diagnostics placed;
  for (Diagnostic problem : problems) {
    if (problem.where.file.empty() && !problem.where.key_path.empty()) {
      const Position& position = deepest(document, problem.where.key_path).position();
      if (position.known()) {
        problem.where.file = position.file ? *position.file : std::string();
        problem.where.line = position.line;
        problem.where.column = position.column;
      }
    }
    placed.add(std::move(problem));
  }
  return placed;
}

std::filesystem::path data_root_or(const std::filesystem::path& folder) {
  const char* root = std::getenv("NEXUML_DATA_ROOT");
  return root && *root ? std::filesystem::absolute(root) : folder;
}

ScenarioInput open_scenario_input(EngineCall& call, const std::string& source, ScenarioWork work) {
  ScenarioRequest request{.source = source,
                          .overrides = call.texts("overrides"),
                          .parameters = call.texts("parameters"),
                          .allow_missing_eval = call.flag("allow_missing_eval")};
  if (const auto epochs = call.integer("max_epochs"))
    request.overrides.push_back(fmt::format("training.max_epochs={}", *epochs));

  ScenarioInput input;
  input.source = source;
  Diagnostics problems;
  input.document = open_scenario(call.loader(), request, problems);
  if (problems.has_errors()) throw_with_graph_mistakes(call.loader(), request, std::move(problems));
  report_not_carried_out(input.document, work, problems);
  if (work == ScenarioWork::train) report_learning_rate(input.document, call.loader().catalog(), problems);
  if (!problems.has_errors()) call.loader().load_for(input.document, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  call.diagnostics().append(problems);

  input.registry = call.loader().registry();
  try {
    input.spec = materialise(input.document, input.registry);
  } catch (const Error& error) {
    throw_with_graph_mistakes(call.loader(), request, error.diagnostics());
  }
  input.scenario_folder = folder_of(call, source);
  input.data_root = data_root_or(input.scenario_folder);
  input.seed =
      static_cast<std::uint64_t>(call.integer("seed").value_or(input.spec.training.seed.value_or(0)));
  return input;
}

}  // namespace nexuml
