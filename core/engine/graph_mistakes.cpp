#include "engine/graph_mistakes.h"

#include <nexuml/compile.h>
#include <nexuml/layer.h>
#include <nexuml/registration.h>
#include <nexuml/registry.h>

#include <algorithm>

#include "scenario/document.h"
#include "scenario/readable_part.h"
#include "schema/forwarded_names.h"

namespace nexuml {
namespace {

// Stands for a layer whose component could not be read: what it makes of its inputs is not known.
struct UnreadLayer {
  static void describe(Schema<UnreadLayer>& s) { s.summary("A layer that could not be read."); }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const {
    return std::make_shared<PipelineLayer>(context);
  }
};

const Identity& unread_layer() {
  static const Identity identity{ComponentKind::layer, "UnreadLayer", "1"};
  return identity;
}

// The catalog, and the stand-in beside it.
class NamesWithUnread final : public ForwardedNames {
 public:
  using ForwardedNames::ForwardedNames;
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override {
    if (identity == unread_layer()) return schema_of<UnreadLayer>();
    return ForwardedNames::definition_schema(identity, type_at, version_at, problems);
  }
};

// Throws Error where the rest cannot be read either. Rules over several fields are known once libraries are
// loaded: what breaks one is added to `broken_rules`, and the rest goes on without it.
ScenarioSpec read_rest(LibraryLoader& loader, const Value& rest, Diagnostics& broken_rules) {
  Diagnostics problems;
  const NamesWithUnread names(loader.catalog());
  const Value checked = check_scenario(rest, {.names = &names}, problems);
  if (!problems.has_errors()) loader.load_for(checked, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  const auto registry = loader.registry().with_program(
      [](Registration& program) { program.add<UnreadLayer>(unread_layer().name, unread_layer().version); });
  try {
    return materialise(checked, registry);
  } catch (const Error& error) {
    broken_rules.append(error.diagnostics());
    const auto without = readable_part(checked, error.diagnostics(), unread_layer());
    if (!without) throw;
    return materialise(*without, registry);
  }
}

// What follows from a part that was left out is no mistake of its own.
bool follows_from(const Diagnostics& mistakes, const Diagnostic& problem) {
  return std::any_of(mistakes.begin(), mistakes.end(), [&](const Diagnostic& mistake) {
    const std::string& path = mistake.where.key_path;
    if (problem.code == "E806") return path.starts_with("data");
    if (problem.code == "E805") return path.starts_with("pipeline") && mistake.code == "E710";
    return false;
  });
}

}  // namespace

Diagnostics graph_mistakes(LibraryLoader& loader, const Value& document, const Diagnostics& mistakes) {
  Diagnostics found;
  const auto rest = readable_part(document, mistakes, unread_layer());
  if (!rest) return found;
  try {
    const ScenarioSpec scenario = read_rest(loader, *rest, found);
    for (const Diagnostic& problem :
         check(CompileInput(scenario, &document), {.registry = loader.registry()}))
      if (problem.severity == Severity::error && !follows_from(mistakes, problem)) found.add(problem);
  } catch (const Error&) {
    // The rest cannot be read either: what was found until here is all there is to say.
  }
  return found;
}

}  // namespace nexuml
