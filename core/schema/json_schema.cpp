// JSON Schema (draft 2020-12) from schema nodes, so that editors and other programs can check documents.
#include <nexuml/schema_node.h>

namespace nexuml {
namespace {

using Kind = TypeNode::Kind;

Value type_schema(const TypeNode& type);

void add_bounds(const Constraints& bounds, Value& schema) {
  if (bounds.greater_than) schema.set("exclusiveMinimum", *bounds.greater_than);
  if (bounds.at_least) schema.set("minimum", *bounds.at_least);
  if (bounds.less_than) schema.set("exclusiveMaximum", *bounds.less_than);
  if (bounds.at_most) schema.set("maximum", *bounds.at_most);
}

void add_sizes(const Constraints& sizes, const char* minimum, const char* maximum, Value& schema) {
  if (sizes.min_size) schema.set(minimum, *sizes.min_size);
  if (sizes.max_size) schema.set(maximum, *sizes.max_size);
}

Value alternatives(const std::vector<TypeNode>& types) {
  Value list = Value::list();
  for (const TypeNode& type : types) list.push_back(type_schema(type));
  return list;
}

Value struct_schema(const StructNode& node) {
  Value properties = Value::map();
  Value required = Value::list();
  for (const FieldNode& field : node.fields) {
    Value& property = properties.set(field.name, type_schema(field.type));
    if (!field.doc.empty()) property.set("description", field.doc);
    if (field.required)
      required.push_back(field.name);
    else if (!field.written_when_set)
      property.set("default", field.default_value);
  }
  Value schema = Value::map({{"type", "object"}});
  if (!node.summary.empty()) schema.set("description", node.summary);
  schema.set("properties", std::move(properties));
  if (required.size() != 0) schema.set("required", std::move(required));
  schema.set("additionalProperties", false);
  return schema;
}

Value definition_schema(const TypeNode& type) {
  Value text = Value::map({{"type", "string"}});
  return Value::map(
      {{"type", "object"},
       {"description", std::string("a ") + std::string(to_string(type.definition_kind)) + " by identity"},
       {"properties",
        Value::map({{"type", text}, {"version", text}, {"params", Value::map({{"type", "object"}})}})},
       {"required", Value::list({"type", "version"})},
       {"additionalProperties", false}});
}

Value type_schema(const TypeNode& type) {
  switch (type.kind) {
    case Kind::boolean:
      return Value::map({{"type", "boolean"}});
    case Kind::integer:
    case Kind::number: {
      Value schema = Value::map({{"type", type.kind == Kind::integer ? "integer" : "number"}});
      add_bounds(type.constraints, schema);
      return schema;
    }
    case Kind::string: {
      Value schema = Value::map({{"type", "string"}});
      add_sizes(type.constraints, "minLength", "maxLength", schema);
      return schema;
    }
    case Kind::choice:
      return Value::map({{"enum", Value(type.choices)}});
    case Kind::target_name:
      return Value::map(
          {{"type", "string"}, {"description", "name of a " + std::string(to_string(type.target_kind))}});
    case Kind::optional:
      return Value::map(
          {{"anyOf", Value::list({type_schema(type.of.front()), Value::map({{"type", "null"}})})}});
    case Kind::list: {
      Value schema = Value::map({{"type", "array"}, {"items", type_schema(type.of.front())}});
      add_sizes(type.constraints, "minItems", "maxItems", schema);
      return schema;
    }
    case Kind::tuple:
      return Value::map({{"type", "array"},
                         {"prefixItems", alternatives(type.of)},
                         {"minItems", type.of.size()},
                         {"maxItems", type.of.size()}});
    case Kind::map: {
      Value schema = Value::map({{"type", "object"}, {"additionalProperties", type_schema(type.of.front())}});
      add_sizes(type.constraints, "minProperties", "maxProperties", schema);
      return schema;
    }
    case Kind::structure:
      return struct_schema(*type.structure);
    case Kind::definition:
      return definition_schema(type);
    case Kind::any:
      return type.structure ? Value::map({{"description", "a " + type.structure->name}}) : Value::map();
    case Kind::one_of:
      return Value::map({{"anyOf", alternatives(type.of)}});
  }
  return Value::map();
}

}  // namespace

Value json_schema(const StructNode& schema) {
  Value result =
      Value::map({{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", schema.name}});
  const Value body = struct_schema(schema);
  for (const Value::Entry& entry : body.entries()) result.set(entry.key, entry.value);
  return result;
}

}  // namespace nexuml
