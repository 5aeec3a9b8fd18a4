#include "loading/scenario_source.h"

#include <fmt/format.h>
#include <nexuml/scenario.h>

#include "scenario/document.h"
#include "scenario/overrides.h"

namespace nexuml {
namespace {

Value from_code(LibraryLoader& loader, const ScenarioRequest& request, Diagnostics& problems) {
  const auto schema = loader.catalog().scenario_parameters(request.source, problems);
  if (!schema) return {};
  const Value parameters = read_parameters(request.parameters, *schema, problems);
  if (problems.has_errors()) return {};
  const ScenarioSpec spec = loader.scenario(request.source, parameters, problems);
  if (problems.has_errors()) return {};
  // The SDK's own definitions: a scenario holds them without asking for them by name.
  Diagnostics told_by_lowering;
  loader.load_for(Identity{ComponentKind::layer, "NnModule", "1"}, told_by_lowering);
  loader.load_for(Identity{ComponentKind::loader_backend, "torch", "1"}, told_by_lowering);
  return lower_scenario(spec, loader.registry(), loader.catalog(), problems);
}

}  // namespace

bool is_scenario_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml") ||
         text.ends_with(".json");
}

Value open_unchecked_scenario(LibraryLoader& loader, const ScenarioRequest& request, Diagnostics& problems) {
  std::string file = is_scenario_path(request.source) ? request.source : "";
  if (file.empty()) {
    const auto* row = loader.catalog().scenario(request.source, problems);
    if (!row) return {};
    file = row->entry->file;
  }
  if (!file.empty() && !request.parameters.empty()) {
    problems
        .error("E720", fmt::format("-P {}: a scenario file has no parameters", request.parameters.front()),
               Where::in_file(file))
        .hint = "write -O key.path=value";
    return {};
  }
  Value document = file.empty() ? from_code(loader, request, problems) : read_document(file, problems);
  if (problems.has_errors()) return {};
  apply_overrides(document, *schema_of<ScenarioSpec>(), request.overrides, &loader.catalog(), problems);
  return document;
}

Value open_scenario(LibraryLoader& loader, const ScenarioRequest& request, Diagnostics& problems) {
  Value document = open_unchecked_scenario(loader, request, problems);
  if (problems.has_errors()) return {};
  return check_scenario(std::move(document),
                        {.names = &loader.catalog(), .allow_missing_eval = request.allow_missing_eval},
                        problems);
}

}  // namespace nexuml
