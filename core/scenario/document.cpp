#include "scenario/document.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "scenario/tree_path.h"
#include "schema/forwarded_names.h"

namespace nexuml {
namespace {

// Documents name a writer even where none is needed, so it is looked up only where preprocessing is enabled.
class ScenarioNames final : public ForwardedNames {
 public:
  ScenarioNames(const Names& names, bool writers) : ForwardedNames(names), writers_(writers) {}

  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    if (kind == TargetKind::writer && !writers_) return nullptr;
    return ForwardedNames::target(kind, spelling, at, problems);
  }

 private:
  bool writers_;
};

Value::List* algorithms_of(Value& document) {
  Value* evaluation = document.find("evaluation");
  Value* algorithms = evaluation ? evaluation->find("algorithms") : nullptr;
  return algorithms && algorithms->is_list() ? &algorithms->items() : nullptr;
}

std::string algorithm_path(std::size_t index) {
  return fmt::format("evaluation.algorithms[{}]", index);
}

// NexuML 0.2.1 ignores unknown fields of an axis key, and only there; we say so.
void drop_unknown_axis_fields(Value& document, Diagnostics& problems) {
  Value::List* algorithms = algorithms_of(document);
  if (!algorithms) return;
  const auto schema = schema_of<AxisKeySpec>();
  for (std::size_t i = 0; i < algorithms->size(); ++i) {
    Value* axes = (*algorithms)[i].find("axis_keys");
    if (!axes || !axes->is_list()) continue;
    for (std::size_t j = 0; j < axes->size(); ++j) {
      Value& axis = axes->items()[j];
      if (!axis.is_map()) continue;
      std::erase_if(axis.entries(), [&](const Value::Entry& entry) {
        if (schema->find(entry.key)) return false;
        problems
            .warning("E710", fmt::format("an axis key has no field '{}': it is left out", entry.key),
                     Where(entry.key_position,
                           fmt::format("{}.axis_keys[{}].{}", algorithm_path(i), j, entry.key)))
            .hint = "remove the line";
        return true;
      });
    }
  }
}

// Null where the entry names an algorithm that `names` knows, or none that could be looked up.
const Value* missing_algorithm(const Value& entry, const Names& names) {
  const Value* algorithm = entry.find("algorithm");
  const Value* type = algorithm ? algorithm->find("type") : nullptr;
  const Value* version = algorithm ? algorithm->find("version") : nullptr;
  if (!type || !version || !type->is_string() || !version->is_string()) return nullptr;
  Diagnostics unknown;
  const Identity identity{ComponentKind::eval_algorithm, type->as_string(), version->as_string()};
  return names.definition_schema(identity, {}, {}, unknown) ? nullptr : type;
}

void leave_out_missing_algorithms(Value& document, const Names& names, Diagnostics& problems) {
  Value::List* algorithms = algorithms_of(document);
  if (!algorithms) return;
  std::size_t index = 0;
  std::erase_if(*algorithms, [&](const Value& entry) {
    const std::size_t at = index++;
    const Value* type = missing_algorithm(entry, names);
    if (!type) return false;
    problems.warning("E730",
                     fmt::format("no eval_algorithm is named '{}': it is left out (--allow-missing-eval)",
                                 type->as_string()),
                     Where(type->position(), algorithm_path(at) + ".algorithm.type"));
    return true;
  });
}

// A missing algorithm is the one thing that a person may choose to do without.
void add_with_advice(const Diagnostics& found, Diagnostics& problems) {
  for (Diagnostic problem : found) {
    const bool missing = problem.code == "E730" || problem.code == "E732";
    if (missing && problem.where.key_path.starts_with("evaluation.algorithms["))
      problem.hint +=
          (problem.hint.empty() ? "" : " ") + std::string("--allow-missing-eval trains without it.");
    problems.add(std::move(problem));
  }
}

}  // namespace

Value read_document(const std::string& path, Diagnostics& problems) {
  Diagnostics found;
  const std::string text = read_text_file(path, found);
  Value document;
  if (!found.has_errors())
    document = path.ends_with(".json") ? parse_json(text, path, found) : parse_yaml(text, path, found);
  const bool failed = found.has_errors();
  problems.append(found);
  return failed ? Value() : document;
}

Value check_scenario(Value document, const ScenarioCheck& options, Diagnostics& problems) {
  drop_unknown_axis_fields(document, problems);
  const auto schema = schema_of<ScenarioSpec>();
  if (!options.names) return check_value(*schema, document, {}, problems);

  if (options.allow_missing_eval) leave_out_missing_algorithms(document, *options.names, problems);
  const Value* enabled = find_path(document, "data.preprocessing.enabled");
  const ScenarioNames names(*options.names, enabled && enabled->is_boolean() && enabled->as_boolean());
  Diagnostics found;
  Value scenario = check_value(*schema, document, {.names = &names, .key_path = {}}, found);
  add_with_advice(found, problems);
  return scenario;
}

ScenarioSpec materialise(const Value& scenario, const ComponentRegistry& registry) {
  Diagnostics problems;
  const Value checked = check_scenario(scenario, {.names = &registry}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return FieldTraits<ScenarioSpec>::decode(checked, &registry);
}

Value lower_scenario(const ScenarioSpec& scenario, const ComponentRegistry& registry, const Names& names,
                     Diagnostics& problems) {
  if (scenario.name.empty())
    problems.error("E711", "a scenario made in code needs a name", Where({}, "name")).hint =
        "write ScenarioSpec{.name = \"...\"}";
  return check_scenario(write(scenario, &registry), {.names = &names}, problems);
}

}  // namespace nexuml
