#include "scenario/required_components.h"

#include <nexuml/scenario.h>

#include "scenario/tree_path.h"

namespace nexuml {
namespace {

// Walks a checked tree along its schema and collects every name in it.
class NameCollector {
 public:
  NameCollector(const Names& names, bool writers) : names_(names), writers_(writers) {}

  void visit_struct(const StructNode& schema, const Value& value) {
    for (const FieldNode& field : schema.fields)
      if (const Value* found = value.find(field.name)) visit(field.type, *found);
    if (schema.factory_of) visit_factory(*schema.factory_of, value);
  }
  RequiredComponents take() && { return std::move(needed_); }

 private:
  void visit(const TypeNode& type, const Value& value) {
    using Kind = TypeNode::Kind;
    switch (type.kind) {
      case Kind::optional:
        if (!value.is_null()) visit(type.of.front(), value);
        break;
      case Kind::list:
        for (const Value& item : value.items()) visit(type.of.front(), item);
        break;
      case Kind::map:
        for (const Value::Entry& entry : value.entries()) visit(type.of.front(), entry.value);
        break;
      case Kind::tuple:
        for (std::size_t i = 0; i < type.of.size(); ++i) visit(type.of[i], value.items()[i]);
        break;
      case Kind::one_of:
        for (const TypeNode& alternative : type.of)
          if (outline_fits(alternative, value)) return visit(alternative, value);
        break;
      case Kind::structure:
        visit_struct(*type.structure, value);
        break;
      case Kind::definition:
        visit_definition(type.definition_kind, value);
        break;
      case Kind::target_name:
        needed_.targets.insert({type.target_kind, value.as_string()});
        break;
      default:
        break;
    }
  }

  void visit_definition(ComponentKind kind, const Value& value) {
    Identity identity{kind, value.at("type").as_string(), value.at("version").as_string()};
    Diagnostics known_already;
    const auto schema = names_.definition_schema(identity, {}, {}, known_already);
    needed_.definitions.insert(std::move(identity));
    if (schema) visit_struct(*schema, value.at("params"));
  }

  void visit_factory(TargetKind kind, const Value& value) {
    if (kind == TargetKind::writer && !writers_) return;
    const std::string& spelling = value.at("factory").as_string();
    needed_.targets.insert({kind, spelling});
    Diagnostics known_already;
    const auto target = names_.target(kind, spelling, {}, known_already);
    if (!target) return;
    const auto& arguments = target->arguments->fields;
    const Value& args = value.at("args");
    for (std::size_t i = 0; i < args.size() && i < arguments.size(); ++i)
      visit(arguments[i].type, args.items()[i]);
    for (const Value::Entry& entry : value.at("kwargs").entries())
      if (const FieldNode* argument = target->arguments->find(entry.key)) visit(argument->type, entry.value);
  }

  const Names& names_;
  bool writers_;
  RequiredComponents needed_;
};

}  // namespace

RequiredComponents required_components(const Value& scenario, const Names& names) {
  NameCollector collector(names, find_path(scenario, "data.preprocessing.enabled")->as_boolean());
  collector.visit_struct(*schema_of<ScenarioSpec>(), scenario);
  return std::move(collector).take();
}

}  // namespace nexuml
