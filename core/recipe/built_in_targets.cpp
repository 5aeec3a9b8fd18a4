#include "recipe/built_in_targets.h"

#include <nexuml/scenario.h>

namespace nexuml {
namespace {

// A module target with one required argument.
std::shared_ptr<const TargetNode> module_target(std::string_view path, const char* name, const char* summary,
                                                const char* argument, const char* doc, TypeNode type) {
  FieldNode field;
  field.name = argument;
  field.doc = doc;
  field.type = std::move(type);
  field.required = true;
  StructNode arguments;
  arguments.name = name;
  arguments.summary = summary;
  arguments.fields.push_back(std::move(field));
  TargetNode node;
  node.kind = TargetKind::module;
  node.path = path;
  node.arguments = std::make_shared<const StructNode>(std::move(arguments));
  return std::make_shared<const TargetNode>(std::move(node));
}

TypeNode scenario_type() {
  TypeNode type{.kind = TypeNode::Kind::structure};
  type.structure = schema_of<ScenarioSpec>();
  return type;
}

}  // namespace

std::shared_ptr<const TargetNode> built_in_target(std::string_view spelling) {
  static const auto pipeline =
      module_target(kPipelineTarget, "CompiledPipeline", "The layers of a scenario, built and in order.",
                    "scenario", "The whole scenario, with every default.", scenario_type());
  static const auto shared =
      module_target(kSharedTarget, "Shared", "The module that another recipe of the same document builds.",
                    "path", "Key path of that recipe, from the outermost.", {.kind = TypeNode::Kind::string});
  const auto canonical = canonical_target_spelling(spelling);
  if (canonical == kPipelineTarget) return pipeline;
  if (canonical == kSharedTarget) return shared;
  return nullptr;
}

}  // namespace nexuml
