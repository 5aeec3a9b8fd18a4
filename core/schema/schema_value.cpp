// Schema nodes as manifests carry them.
#include <fmt/format.h>
#include <nexuml/schema_node.h>

#include <array>

namespace nexuml {
namespace {

using Kind = TypeNode::Kind;

constexpr std::array<std::pair<Kind, const char*>, 14> kKindNames{{{Kind::boolean, "boolean"},
                                                                   {Kind::integer, "integer"},
                                                                   {Kind::number, "number"},
                                                                   {Kind::string, "text"},
                                                                   {Kind::choice, "choice"},
                                                                   {Kind::optional, "optional"},
                                                                   {Kind::list, "list"},
                                                                   {Kind::map, "map"},
                                                                   {Kind::tuple, "tuple"},
                                                                   {Kind::structure, "struct"},
                                                                   {Kind::definition, "definition"},
                                                                   {Kind::target_name, "target"},
                                                                   {Kind::any, "any"},
                                                                   {Kind::one_of, "one_of"}}};

const char* kind_text(Kind kind) {
  for (const auto& [candidate, text] : kKindNames)
    if (candidate == kind) return text;
  return "any";
}

// The members of Constraints, in the order in which they are written.
constexpr std::array<std::pair<const char*, std::optional<double> Constraints::*>, 4> kBounds{
    {{"greater_than", &Constraints::greater_than},
     {"at_least", &Constraints::at_least},
     {"less_than", &Constraints::less_than},
     {"at_most", &Constraints::at_most}}};
constexpr std::array<std::pair<const char*, std::optional<std::size_t> Constraints::*>, 2> kSizes{
    {{"min_size", &Constraints::min_size}, {"max_size", &Constraints::max_size}}};

Value type_to_value(const TypeNode& type) {
  Value result = Value::map({{"kind", kind_text(type.kind)}});
  if (!type.of.empty()) {
    Value& of = result.set("of", Value::list());
    for (const TypeNode& element : type.of) of.push_back(type_to_value(element));
  }
  if (!type.choices.empty()) result.set("choices", Value(type.choices));
  if (type.structure) result.set("struct", schema_to_value(*type.structure));
  if (type.kind == Kind::definition) result.set("component_kind", to_string(type.definition_kind));
  if (type.kind == Kind::target_name) result.set("target_kind", to_string(type.target_kind));
  for (const auto& [name, bound] : kBounds)
    if (type.constraints.*bound) result.set(name, *(type.constraints.*bound));
  for (const auto& [name, size] : kSizes)
    if (type.constraints.*size) result.set(name, *(type.constraints.*size));
  return result;
}

[[noreturn]] void malformed(const Value& at, const std::string& what) {
  throw Error("E102", "malformed schema in a manifest: " + what, Where(at.position()),
              "build the manifest again with nexuml_add_library");
}

const Value& member(const Value& map, std::string_view key, Value::Kind kind) {
  const Value* found = map.find(key);
  if (!found || found->kind() != kind) malformed(map, fmt::format("'{}' must be {}", key, kind_name(kind)));
  return *found;
}

// Optional members: their default when absent, an error when of another kind.
std::string text_member(const Value& map, std::string_view key) {
  return map.find(key) ? member(map, key, Value::Kind::string).as_string() : std::string();
}
bool flag_member(const Value& map, std::string_view key) {
  return map.find(key) && member(map, key, Value::Kind::boolean).as_boolean();
}

constexpr int kMaxDepth = 32;
std::shared_ptr<const StructNode> struct_from_value(const Value& value, int depth);

TypeNode type_from_value(const Value& value, int depth) {
  if (depth > kMaxDepth) malformed(value, "nested too deep");
  TypeNode type;
  const std::string& kind = member(value, "kind", Value::Kind::string).as_string();
  bool known = false;
  for (const auto& [candidate, text] : kKindNames)
    if (kind == text) {
      type.kind = candidate;
      known = true;
    }
  if (!known) malformed(value, fmt::format("'{}' is no kind of type", kind));
  if (value.find("of"))
    for (const Value& element : member(value, "of", Value::Kind::list).items())
      type.of.push_back(type_from_value(element, depth + 1));
  if (value.find("choices"))
    for (const Value& choice : member(value, "choices", Value::Kind::list).items()) {
      if (!choice.is_string()) malformed(choice, "a choice must be text");
      type.choices.push_back(choice.as_string());
    }
  if (value.find("struct"))
    type.structure = struct_from_value(member(value, "struct", Value::Kind::map), depth + 1);
  if (type.kind == Kind::definition) {
    const auto component = component_kind(member(value, "component_kind", Value::Kind::string).as_string());
    if (!component) malformed(value, "unknown component_kind");
    type.definition_kind = *component;
  }
  if (type.kind == Kind::target_name) {
    const auto target = target_kind(member(value, "target_kind", Value::Kind::string).as_string());
    if (!target) malformed(value, "unknown target_kind");
    type.target_kind = *target;
  }
  for (const auto& [name, bound] : kBounds)
    if (const Value* found = value.find(name)) {
      if (!found->is_number()) malformed(*found, fmt::format("'{}' must be a number", name));
      type.constraints.*bound = found->as_number();
    }
  for (const auto& [name, size] : kSizes)
    if (const Value* found = value.find(name)) {
      if (!found->is_integer() || found->as_integer() < 0)
        malformed(*found, fmt::format("'{}' must be a size", name));
      type.constraints.*size = static_cast<std::size_t>(found->as_integer());
    }
  const bool one = type.kind == Kind::optional || type.kind == Kind::list || type.kind == Kind::map;
  if (one && type.of.size() != 1) malformed(value, "'of' must hold one type");
  if (type.kind == Kind::structure && !type.structure) malformed(value, "'struct' is missing");
  return type;
}

std::shared_ptr<const StructNode> struct_from_value(const Value& value, int depth) {
  if (depth > kMaxDepth) malformed(value, "nested too deep");
  auto schema = std::make_shared<StructNode>();
  schema->name = text_member(value, "name");
  schema->summary = text_member(value, "summary");
  schema->discriminator = text_member(value, "discriminator");
  if (value.find("factory_of")) {
    schema->factory_of = target_kind(text_member(value, "factory_of"));
    if (!schema->factory_of) malformed(value, "unknown factory_of");
  }
  for (const Value& entry : member(value, "fields", Value::Kind::list).items()) {
    FieldNode field;
    field.name = member(entry, "name", Value::Kind::string).as_string();
    field.doc = text_member(entry, "doc");
    field.type = type_from_value(member(entry, "type", Value::Kind::map), depth + 1);
    field.required = flag_member(entry, "required");
    field.written_when_set = flag_member(entry, "written_when_set");
    if (const Value* default_value = entry.find("default")) field.default_value = *default_value;
    schema->fields.push_back(std::move(field));
  }
  if (!schema->discriminator.empty() && !schema->find(schema->discriminator))
    malformed(value, "the discriminator is no field");
  if (schema->factory_of)
    for (const char* name : {"factory", "args", "kwargs"})
      if (!schema->find(name)) malformed(value, fmt::format("a factory needs the field '{}'", name));
  return schema;
}

}  // namespace

Value schema_to_value(const StructNode& schema) {
  Value result = Value::map({{"name", schema.name}});
  if (!schema.summary.empty()) result.set("summary", schema.summary);
  if (schema.factory_of) result.set("factory_of", to_string(*schema.factory_of));
  if (!schema.discriminator.empty()) result.set("discriminator", schema.discriminator);
  Value& fields = result.set("fields", Value::list());
  for (const FieldNode& field : schema.fields) {
    Value entry = Value::map({{"name", field.name}, {"type", type_to_value(field.type)}});
    if (!field.doc.empty()) entry.set("doc", field.doc);
    if (field.required)
      entry.set("required", true);
    else
      entry.set("default", field.default_value);
    if (field.written_when_set) entry.set("written_when_set", true);
    fields.push_back(std::move(entry));
  }
  return result;
}

std::shared_ptr<const StructNode> schema_from_value(const Value& value) {
  if (!value.is_map()) malformed(value, "a map expected");
  return struct_from_value(value, 0);
}

}  // namespace nexuml
