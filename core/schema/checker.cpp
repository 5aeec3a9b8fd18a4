#include "schema/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nexuml::detail {
namespace {

std::vector<std::string> field_names(const StructNode& schema) {
  std::vector<std::string> names;
  for (const FieldNode& field : schema.fields) names.push_back(field.name);
  return names;
}

// What a person who wrote `value` probably meant.
std::string repair_hint(const TypeNode& type, const Value& value) {
  using Kind = TypeNode::Kind;
  if (!value.is_string()) {
    if (type.kind == Kind::string && !value.is_list() && !value.is_map() && !value.is_null())
      return "write the value in quotes";
    if (type.kind == Kind::integer && value.is_number()) return "write a whole number";
    if (type.kind == Kind::list && !value.is_map() && !value.is_null())
      return "write the value as a list: [value]";
    return {};
  }
  const std::string& text = value.as_string();
  if (type.kind == Kind::boolean) {
    if (text == "on" || text == "yes" || text == "On" || text == "Yes" || text == "true") return "write true";
    if (text == "off" || text == "no" || text == "Off" || text == "No" || text == "false")
      return "write false";
  }
  if (type.kind == Kind::integer || type.kind == Kind::number) {
    double parsed = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (status == std::errc() && end == text.data() + text.size()) return "remove the quotes";
  }
  return {};
}

// Moves, where `Value(...).at_position(...)` would copy the tree.
Value placed(Value value, const Position& position) {
  value.at_position(position);
  return value;
}

const Value::Entry* find_entry(const Value& map, const std::string& key) {
  for (const Value::Entry& entry : map.entries())
    if (entry.key == key) return &entry;
  return nullptr;
}

bool integer_like(const Value& value) {
  return value.is_integer();
}

}  // namespace

Diagnostic& Checker::error(const char* code, std::string message, const Value& at, const KeyPath& path) {
  return problems_.error(code, std::move(message), where(at.position(), path));
}

Where Checker::where(const Position& position, const KeyPath& path) const {
  return Where(position.known() || !enclosing_ ? position : *enclosing_, path.text());
}

Value Checker::wrong_type(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (value.is_null()) {
    error("E714", fmt::format("null is not allowed: {} expected", type_in_words(type)), value, path).hint =
        "remove the line to get the default, or write a value";
    return {};
  }
  error("E712", fmt::format("{} expected, got {}", type_in_words(type), describe_for_message(value)), value,
        path)
      .hint = repair_hint(type, value);
  return {};
}

Value Checker::check(const TypeNode& type, const Value& value, const KeyPath& path) {
  using Kind = TypeNode::Kind;
  switch (type.kind) {
    case Kind::boolean:
      return value.is_boolean() ? value : wrong_type(type, value, path);
    case Kind::integer:
      if (!integer_like(value)) return wrong_type(type, value, path);
      check_bounds(type.constraints, value, path);
      return value;
    case Kind::number: {
      if (!value.is_number()) return wrong_type(type, value, path);
      check_bounds(type.constraints, value, path);
      Value number = value.as_number();
      return number.at_position(value.position());
    }
    case Kind::string:
      if (!value.is_string()) return wrong_type(type, value, path);
      check_size(type, value, path);
      return value;
    case Kind::choice:
      return check_choice(type, value, path);
    case Kind::optional:
      return value.is_null() ? value : check(type.of.front(), value, path);
    case Kind::list:
      return check_list(type, value, path);
    case Kind::map:
      return check_map(type, value, path);
    case Kind::tuple:
      return check_tuple(type, value, path);
    case Kind::structure:
      return check_struct(*type.structure, value, path);
    case Kind::definition:
      return check_definition(type, value, path);
    case Kind::target_name:
      return check_target_name(type, value, path);
    case Kind::any:
      // A type with a serializer; a node from a manifest knows its name alone.
      if (type.structure && type.structure->rules) {
        const Value placed_value = Value(value).at_position(
            value.position().known() || !enclosing_ ? value.position() : *enclosing_);
        type.structure->rules(placed_value, path.text(), problems_);
      }
      return value;
    case Kind::one_of:
      return check_union(type, value, path);
  }
  return value;
}

void Checker::check_bounds(const Constraints& bounds, const Value& value, const KeyPath& path) {
  const double number = value.as_number();
  const auto refuse = [&](std::string_view words, double bound) {
    error("E713", fmt::format("the value must be {} {}, found {}", words, bound, number), value, path);
  };
  if (bounds.greater_than && !(number > *bounds.greater_than))
    return refuse("greater than", *bounds.greater_than);
  if (bounds.at_least && !(number >= *bounds.at_least)) return refuse("at least", *bounds.at_least);
  if (bounds.less_than && !(number < *bounds.less_than)) return refuse("less than", *bounds.less_than);
  if (bounds.at_most && !(number <= *bounds.at_most)) return refuse("at most", *bounds.at_most);
}

void Checker::check_size(const TypeNode& type, const Value& value, const KeyPath& path) {
  const std::size_t size = value.is_string() ? value.as_string().size() : value.size();
  const char* unit = value.is_string() ? "bytes" : "entries";
  if (type.constraints.min_size && size < *type.constraints.min_size) {
    if (size == 0 && *type.constraints.min_size == 1)
      error("E713", value.is_string() ? "the text must not be empty" : "at least one entry is needed", value,
            path);
    else
      error("E713", fmt::format("at least {} {} expected, found {}", *type.constraints.min_size, unit, size),
            value, path);
  }
  if (type.constraints.max_size && size > *type.constraints.max_size)
    error("E713", fmt::format("at most {} {} expected, found {}", *type.constraints.max_size, unit, size),
          value, path);
}

Value Checker::check_choice(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_string()) return wrong_type(type, value, path);
  if (std::ranges::find(type.choices, value.as_string()) == type.choices.end())
    error(
        "E715",
        fmt::format("'{}' is no choice here: {} expected", value.as_string(), fmt::join(type.choices, ", ")),
        value, path)
        .hint = did_you_mean(value.as_string(), type.choices);
  return value;
}

Value Checker::check_list(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_list()) return wrong_type(type, value, path);
  check_size(type, value, path);
  Value::List items;
  items.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i)
    items.push_back(check(type.of.front(), value.items()[i], KeyPath(path, i)));
  return placed(Value(std::move(items)), value.position());
}

Value Checker::check_tuple(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_list()) return wrong_type(type, value, path);
  if (value.size() != type.of.size()) {
    error("E713", fmt::format("a list of exactly {} expected, found {}", type.of.size(), value.size()), value,
          path);
    return {};
  }
  Value::List items;
  for (std::size_t i = 0; i < value.size(); ++i)
    items.push_back(check(type.of[i], value.items()[i], KeyPath(path, i)));
  return placed(Value(std::move(items)), value.position());
}

Value Checker::check_map(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_map()) return wrong_type(type, value, path);
  check_size(type, value, path);
  Value::Map entries;
  entries.reserve(value.size());
  for (const Value::Entry& entry : value.entries())
    entries.push_back(
        {entry.key, check(type.of.front(), entry.value, KeyPath(path, entry.key)), entry.key_position});
  return placed(Value(std::move(entries)), value.position());
}

Value Checker::check_struct(const StructNode& schema, const Value& value, const KeyPath& path) {
  if (!value.is_map()) {
    TypeNode type{.kind = TypeNode::Kind::map, .of = {TypeNode{}}};
    return wrong_type(type, value, path);
  }
  const std::size_t before = problems_.size();
  const Enclosing enclosing(*this, value.position());
  for (const Value::Entry& entry : value.entries())
    if (!schema.find(entry.key))
      problems_
          .error("E710", fmt::format("there is no field '{}' here", entry.key),
                 where(entry.key_position, KeyPath(path, entry.key)))
          .hint = did_you_mean(entry.key, field_names(schema));

  Value::Map fields;
  fields.reserve(schema.fields.size());
  for (const FieldNode& field : schema.fields) {
    if (const Value::Entry* given = find_entry(value, field.name))
      fields.push_back(
          {field.name, check(field.type, given->value, KeyPath(path, field.name)), given->key_position});
    else if (field.required)
      error("E711",
            fmt::format("the field '{}' is missing: {} expected", field.name, type_in_words(field.type)),
            value, KeyPath(path, field.name));
    else if (!field.written_when_set)
      fields.push_back({field.name, field.default_value, {}});
  }
  Value normalised = placed(Value(std::move(fields)), value.position());
  if (problems_.size() == before && schema.factory_of) check_factory(*schema.factory_of, normalised, path);
  if (problems_.size() == before && schema.rules) schema.rules(normalised, path.text(), problems_);
  return normalised;
}

Value Checker::check_target_name(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_string()) return wrong_type(type, value, path);
  if (names_)
    (void)names_->target(type.target_kind, value.as_string(), where(value.position(), path), problems_);
  return value;
}

void Checker::check_factory(TargetKind kind, const Value& normalised, const KeyPath& path) {
  if (!names_) return;
  const Value& factory = normalised.at("factory");
  const auto target = names_->target(kind, factory.as_string(),
                                     where(factory.position(), KeyPath(path, "factory")), problems_);
  if (target)
    (void)check_target_arguments(*target, normalised.at("args"), normalised.at("kwargs"), path,
                                 factory.position());
}

Value Checker::check_definition(const TypeNode& type, const Value& value, const KeyPath& path) {
  if (!value.is_map()) return wrong_type(type, value, path);
  static const StructNode outline = [] {
    const TypeNode text{.kind = TypeNode::Kind::string};
    const TypeNode params{.kind = TypeNode::Kind::map, .of = {TypeNode{}}};
    StructNode node;
    node.fields = {FieldNode{.name = "type", .type = text, .required = true},
                   FieldNode{.name = "version", .type = text, .required = true},
                   FieldNode{.name = "params", .type = params, .default_value = Value::map()}};
    return node;
  }();
  const std::size_t before = problems_.size();
  const Value* version = value.find("version");
  if (version && version->is_number())
    error("E712", fmt::format("the version must be text, got {}", describe_for_message(*version)), *version,
          KeyPath(path, "version"))
        .hint = fmt::format("quote it: version: '{}'", write_json(*version, {.indent = -1}));
  if (problems_.size() != before) return {};
  Value normalised = check_struct(outline, value, path);
  if (problems_.size() != before || !names_) return normalised;

  const Identity identity{type.definition_kind, normalised.at("type").as_string(),
                          normalised.at("version").as_string()};
  const auto schema = names_->definition_schema(
      identity, where(normalised.at("type").position(), KeyPath(path, "type")),
      where(normalised.at("version").position(), KeyPath(path, "version")), problems_);
  if (schema)
    normalised.set("params", check_struct(*schema, normalised.at("params"), KeyPath(path, "params")));
  return normalised;
}

Value Checker::check_union(const TypeNode& type, const Value& value, const KeyPath& path) {
  for (const TypeNode& alternative : type.of)
    if (outline_fits(alternative, value)) return check(alternative, value, path);
  // A map that names an unknown alternative of a discriminated union.
  if (value.is_map()) {
    std::vector<std::string> choices;
    std::string field;
    for (const TypeNode& alternative : type.of)
      if (alternative.structure && !alternative.structure->discriminator.empty()) {
        field = alternative.structure->discriminator;
        const FieldNode* node = alternative.structure->find(field);
        choices.insert(choices.end(), node->type.choices.begin(), node->type.choices.end());
      }
    if (const Value* found = value.find(field))
      return check_choice({.kind = TypeNode::Kind::choice, .choices = choices}, *found, KeyPath(path, field));
  }
  return wrong_type(type, value, path);
}

Value Checker::check_target_arguments(const TargetNode& target, const Value& args, const Value& kwargs,
                                      const KeyPath& path, const Position& at) {
  const StructNode& schema = *target.arguments;
  const KeyPath args_path(path, "args"), kwargs_path(path, "kwargs");
  const std::size_t before = problems_.size();
  if (args.size() > schema.fields.size())
    error("E734",
          fmt::format("{} takes at most {} positional arguments, found {}", target.path, schema.fields.size(),
                      args.size()),
          args, args_path);
  for (const Value::Entry& entry : kwargs.entries()) {
    const Where place = where(entry.key_position, KeyPath(kwargs_path, entry.key));
    if (std::ranges::find(target.injected, entry.key) != target.injected.end())
      problems_.error(
          "E734",
          fmt::format("'{}' of {} is passed when it is built and cannot be written", entry.key, target.path),
          place);
    else if (!schema.find(entry.key))
      problems_.error("E734", fmt::format("{} has no argument '{}'", target.path, entry.key), place).hint =
          at.known() && !kwargs.position().known()
              ? "it is in the default of kwargs, which is not written here: write kwargs"
              : did_you_mean(entry.key, field_names(schema));
  }
  Value::Map bound;
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const FieldNode& field = schema.fields[i];
    const Value* positional = i < args.size() ? &args.items()[i] : nullptr;
    const Value* keyword = kwargs.find(field.name);
    if (positional && keyword)
      error("E734",
            fmt::format("the argument '{}' of {} is given twice, by position and by name", field.name,
                        target.path),
            *keyword, KeyPath(kwargs_path, field.name));
    else if (positional)
      bound.push_back({field.name, check(field.type, *positional, KeyPath(args_path, i)), {}});
    else if (keyword)
      bound.push_back({field.name, check(field.type, *keyword, KeyPath(kwargs_path, field.name)), {}});
    else if (field.required)
      problems_.error("E734",
                      fmt::format("the argument '{}' of {} is missing: {} expected", field.name, target.path,
                                  type_in_words(field.type)),
                      where(at, path));
    else
      bound.push_back({field.name, field.default_value, {}});
  }
  Value normalised = placed(Value(std::move(bound)), at);
  if (problems_.size() == before && schema.rules) schema.rules(normalised, kwargs_path.text(), problems_);
  return normalised;
}

}  // namespace nexuml::detail

namespace nexuml {

Value check_value(const StructNode& schema, const Value& value, const CheckOptions& options,
                  Diagnostics& problems) {
  return detail::Checker(options.names, problems)
      .check_struct(schema, value, detail::KeyPath(options.key_path));
}

Value check_value(const TypeNode& type, const Value& value, const CheckOptions& options,
                  Diagnostics& problems) {
  return detail::Checker(options.names, problems).check(type, value, detail::KeyPath(options.key_path));
}

Value check_arguments(const TargetNode& target, const Value& args, const Value& kwargs,
                      const CheckOptions& options, Diagnostics& problems) {
  return detail::Checker(options.names, problems)
      .check_target_arguments(target, args, kwargs, detail::KeyPath(options.key_path), args.position());
}

}  // namespace nexuml
