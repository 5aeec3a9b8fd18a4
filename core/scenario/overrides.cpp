#include "scenario/overrides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "scenario/assignment.h"

namespace nexuml {
namespace {

const TypeNode any_value{};

std::vector<std::string> keys_of(const Value& map) {
  std::vector<std::string> keys;
  for (const Value::Entry& entry : map.entries()) keys.push_back(entry.key);
  return keys;
}

std::vector<std::string> keys_of(const StructNode& schema) {
  std::vector<std::string> keys;
  for (const FieldNode& field : schema.fields) keys.push_back(field.name);
  return keys;
}

// Follows one path through the tree and the schema at once.
class AssignmentWalk {
 public:
  AssignmentWalk(const Assignment& assignment, const Names* names, Diagnostics& problems)
      : assignment_(assignment), names_(names), problems_(problems) {}

  void assign_in_struct(Value& node, const StructNode& schema, std::size_t depth);

 private:
  void assign(Value& node, const TypeNode& type, std::size_t depth);
  void assign_in_map(Value& node, const TypeNode& element, std::size_t depth);
  void assign_in_list(Value& node, const std::vector<const TypeNode*>& elements, std::size_t depth);
  void assign_in_definition(Value& node, ComponentKind kind, std::size_t depth);
  void assign_in_arguments(Value& node, const StructNode& arguments, std::size_t depth);

  bool last(std::size_t depth) const { return depth + 1 == assignment_.path.size(); }
  std::string place(std::size_t depth) const {
    return depth == 0 ? std::string("the document") : assignment_.path_up_to(depth);
  }
  // The key at `depth`, or null after the problem that an index stands there or that `node` has no keys.
  const std::string* key_into(Value& node, std::size_t depth);
  void no_such_key(const std::string& key, const std::vector<std::string>& keys, std::size_t depth);
  void refuse(std::string message, std::size_t depth, std::string hint = {});
  std::shared_ptr<const StructNode> arguments_of(const StructNode& schema, const Value& node) const;

  const Assignment& assignment_;
  const Names* names_;
  Diagnostics& problems_;
};

void AssignmentWalk::refuse(std::string message, std::size_t depth, std::string hint) {
  problems_
      .error("E721", std::move(message),
             Where(assignment_.position(assignment_.path[depth]), assignment_.path_up_to(depth + 1)))
      .hint = std::move(hint);
}

void AssignmentWalk::no_such_key(const std::string& key, const std::vector<std::string>& keys,
                                 std::size_t depth) {
  constexpr std::size_t most_named = 12;
  std::string hint = did_you_mean(key, keys);
  if (hint.empty() && !keys.empty() && keys.size() <= most_named)
    hint = fmt::format("there is {}", fmt::join(keys, ", "));
  refuse(fmt::format("there is no '{}' in {}", key, place(depth)), depth, std::move(hint));
}

const std::string* AssignmentWalk::key_into(Value& node, std::size_t depth) {
  const PathPart& part = assignment_.path[depth];
  if (node.is_null()) node = Value::map().at_position(assignment_.value_at);
  if (!node.is_map())
    refuse(fmt::format("{} is {}: it has no keys", place(depth), describe_for_message(node)), depth);
  else if (!part.key())
    refuse(fmt::format("{} is a map: a key is expected, found an index", place(depth)), depth,
           fmt::format("write .{} in place of [{}]", *part.index(), *part.index()));
  else
    return part.key();
  return nullptr;
}

void AssignmentWalk::assign(Value& node, const TypeNode& type, std::size_t depth) {
  using Kind = TypeNode::Kind;
  if (depth == assignment_.path.size()) {
    if (auto value = assignment_.value.as(type, problems_)) {
      node = *std::move(value);
      if (!node.position().known()) node.at_position(assignment_.value_at);
    }
    return;
  }
  switch (type.kind) {
    case Kind::optional:
      return assign(node, type.of.front(), depth);
    case Kind::structure:
      return assign_in_struct(node, *type.structure, depth);
    case Kind::map:
      return assign_in_map(node, type.of.front(), depth);
    case Kind::list:
      return assign_in_list(node, std::vector<const TypeNode*>(node.size(), &type.of.front()), depth);
    case Kind::tuple: {
      std::vector<const TypeNode*> elements;
      for (const TypeNode& element : type.of) elements.push_back(&element);
      elements.resize(std::min(elements.size(), node.size()));
      return assign_in_list(node, elements, depth);
    }
    case Kind::definition:
      return assign_in_definition(node, type.definition_kind, depth);
    case Kind::one_of:
      for (const TypeNode& alternative : type.of)
        if (outline_fits(alternative, node)) return assign(node, alternative, depth);
      break;
    case Kind::any:
      if (node.is_list())
        return assign_in_list(node, std::vector<const TypeNode*>(node.size(), &any_value), depth);
      return assign_in_map(node, any_value, depth);
    default:
      break;
  }
  refuse(fmt::format("{} is {}: it has no parts", place(depth), describe_for_message(node)), depth);
}

void AssignmentWalk::assign_in_struct(Value& node, const StructNode& schema, std::size_t depth) {
  const std::string* key = key_into(node, depth);
  if (!key) return;
  const FieldNode* field = schema.find(*key);
  if (!field) return no_such_key(*key, keys_of(schema), depth);
  Value* entry = node.find(*key);
  if (!entry) entry = &node.set(*key, field->required ? Value() : field->default_value);
  if (schema.factory_of && !last(depth)) {
    const auto arguments = arguments_of(schema, node);
    if (arguments && *key == "kwargs") return assign_in_arguments(*entry, *arguments, depth + 1);
    if (arguments && *key == "args") {
      std::vector<const TypeNode*> elements(entry->size(), &any_value);
      for (std::size_t i = 0; i < elements.size() && i < arguments->fields.size(); ++i)
        elements[i] = &arguments->fields[i].type;
      return assign_in_list(*entry, elements, depth + 1);
    }
  }
  assign(*entry, field->type, depth + 1);
}

std::shared_ptr<const StructNode> AssignmentWalk::arguments_of(const StructNode& schema,
                                                               const Value& node) const {
  const Value* factory = node.find("factory");
  const FieldNode* field = schema.find("factory");
  if (!factory && !field->required) factory = &field->default_value;
  if (!names_ || !factory || !factory->is_string()) return nullptr;
  Diagnostics reported_by_the_check;
  const auto target = names_->target(*schema.factory_of, factory->as_string(), {}, reported_by_the_check);
  return target ? target->arguments : nullptr;
}

void AssignmentWalk::assign_in_arguments(Value& node, const StructNode& arguments, std::size_t depth) {
  const std::string* key = key_into(node, depth);
  if (!key) return;
  const FieldNode* argument = arguments.find(*key);
  if (!argument) return no_such_key(*key, keys_of(arguments), depth);
  Value* entry = node.find(*key);
  if (!entry) entry = &node.set(*key, argument->required ? Value() : argument->default_value);
  assign(*entry, argument->type, depth + 1);
}

void AssignmentWalk::assign_in_map(Value& node, const TypeNode& element, std::size_t depth) {
  const std::string* key = key_into(node, depth);
  if (!key) return;
  Value* entry = node.find(*key);
  if (!entry && !last(depth)) return no_such_key(*key, keys_of(node), depth);
  if (!entry) {
    node.entries().push_back({*key, Value(), assignment_.position(assignment_.path[depth])});
    entry = &node.entries().back().value;
  }
  assign(*entry, element, depth + 1);
}

void AssignmentWalk::assign_in_list(Value& node, const std::vector<const TypeNode*>& elements,
                                    std::size_t depth) {
  const PathPart& part = assignment_.path[depth];
  if (!node.is_list())
    return refuse(fmt::format("{} is {}: it has no entries", place(depth), describe_for_message(node)),
                  depth);
  if (!part.index())
    return refuse(fmt::format("{} is a list: an index is expected, found '{}'", place(depth), *part.key()),
                  depth, fmt::format("write {}[0]", place(depth)));
  if (*part.index() >= elements.size())
    return refuse(fmt::format("there is no entry [{}] in {}: it has {}", *part.index(), place(depth),
                              elements.size() == 1 ? "1 entry" : fmt::format("{} entries", elements.size())),
                  depth, "indices start at 0");
  assign(node.items()[*part.index()], *elements[*part.index()], depth + 1);
}

void AssignmentWalk::assign_in_definition(Value& node, ComponentKind kind, std::size_t depth) {
  const std::string* key = key_into(node, depth);
  if (!key) return;
  static const std::vector<std::string> keys{"type", "version", "params"};
  static const TypeNode text{.kind = TypeNode::Kind::string};
  if (*key == "type" || *key == "version") {
    Value* entry = node.find(*key);
    return assign(entry ? *entry : node.set(*key, Value()), text, depth + 1);
  }
  if (*key != "params") return no_such_key(*key, keys, depth);
  Value* params = node.find("params");
  if (!params) params = &node.set("params", Value::map());
  const Value* type = node.find("type");
  const Value* version = node.find("version");
  std::shared_ptr<const StructNode> schema;
  if (names_ && !last(depth) && type && version && type->is_string() && version->is_string()) {
    Diagnostics reported_by_the_check;
    schema = names_->definition_schema({kind, type->as_string(), version->as_string()}, {}, {},
                                       reported_by_the_check);
  }
  if (schema) return assign_in_struct(*params, *schema, depth + 1);
  assign(*params, any_value, depth + 1);
}

void apply_assignments(std::string_view option, Value& tree, const StructNode& schema,
                       const std::vector<std::string>& assignments, const Names* names,
                       Diagnostics& problems) {
  for (const std::string& text : assignments)
    if (const auto assignment = parse_assignment(option, text, problems))
      AssignmentWalk(*assignment, names, problems).assign_in_struct(tree, schema, 0);
}

}  // namespace

void apply_overrides(Value& document, const StructNode& schema, const std::vector<std::string>& overrides,
                     const Names* names, Diagnostics& problems) {
  apply_assignments("-O", document, schema, overrides, names, problems);
}

Value read_parameters(const std::vector<std::string>& assignments, const StructNode& parameters,
                      Diagnostics& problems) {
  Value values = Value::map();
  apply_assignments("-P", values, parameters, assignments, nullptr, problems);
  return check_value(parameters, values, {}, problems);
}

}  // namespace nexuml
