#include <fmt/format.h>
#include <nexuml/schema_node.h>

#include <algorithm>

namespace nexuml {

Names::~Names() = default;

const FieldNode* StructNode::find(std::string_view field) const noexcept {
  const auto found = std::ranges::find(fields, field, &FieldNode::name);
  return found == fields.end() ? nullptr : &*found;
}

bool outline_fits(const TypeNode& type, const Value& value) {
  using Kind = TypeNode::Kind;
  switch (type.kind) {
    case Kind::boolean:
      return value.is_boolean();
    case Kind::integer:
      return value.is_integer();
    case Kind::number:
      return value.is_number();
    case Kind::string:
    case Kind::choice:
    case Kind::target_name:
      return value.is_string();
    case Kind::optional:
      return value.is_null() || outline_fits(type.of.front(), value);
    case Kind::list:
    case Kind::tuple:
      return value.is_list();
    case Kind::map:
    case Kind::definition:
      return value.is_map();
    case Kind::any: {
      if (!type.structure || !type.structure->rules) return true;
      Diagnostics misfits;
      type.structure->rules(value, {}, misfits);
      return !misfits.has_errors();
    }
    case Kind::one_of:
      return std::ranges::any_of(type.of, [&](const TypeNode& of) { return outline_fits(of, value); });
    case Kind::structure: {
      if (!value.is_map()) return false;
      const std::string& key = type.structure->discriminator;
      const Value* found = key.empty() ? nullptr : value.find(key);
      if (!found || !found->is_string()) return true;
      const auto& choices = type.structure->find(key)->type.choices;
      return std::ranges::find(choices, found->as_string()) != choices.end();
    }
  }
  return false;
}

namespace {

std::string bounds_in_words(const Constraints& bounds) {
  std::string words;
  if (bounds.greater_than) words += fmt::format(" > {}", *bounds.greater_than);
  if (bounds.at_least) words += fmt::format(" >= {}", *bounds.at_least);
  if (bounds.less_than) words += fmt::format(" < {}", *bounds.less_than);
  if (bounds.at_most) words += fmt::format(" <= {}", *bounds.at_most);
  return words;
}

std::string joined(const std::vector<TypeNode>& types, std::string_view between) {
  std::string words;
  for (const TypeNode& type : types) {
    if (!words.empty()) words += between;
    words += type_in_words(type);
  }
  return words;
}

}  // namespace

std::string type_in_words(const TypeNode& type) {
  using Kind = TypeNode::Kind;
  switch (type.kind) {
    case Kind::boolean:
      return "boolean";
    case Kind::integer:
      return "integer" + bounds_in_words(type.constraints);
    case Kind::number:
      return "number" + bounds_in_words(type.constraints);
    case Kind::string:
      return "text";
    case Kind::choice:
      return fmt::format("one of {}", fmt::join(type.choices, ", "));
    case Kind::optional:
      return type_in_words(type.of.front()) + " or null";
    case Kind::list:
      return "list of " + type_in_words(type.of.front());
    case Kind::map:
      return "map of " + type_in_words(type.of.front());
    case Kind::tuple:
      return "list [" + joined(type.of, ", ") + "]";
    case Kind::structure:
      return "map (" + type.structure->name + ")";
    case Kind::definition:
      return fmt::format("{} {{type, version, params}}", to_string(type.definition_kind));
    case Kind::target_name:
      return fmt::format("name of a {}", to_string(type.target_kind));
    case Kind::any:
      return type.structure ? type.structure->name : "any value";
    case Kind::one_of:
      return joined(type.of, " or ");
  }
  return {};
}

std::optional<std::string> canonical_target_spelling(std::string_view text) {
  const auto is_name = [](std::string_view part) {
    if (part.empty() || (part[0] >= '0' && part[0] <= '9')) return false;
    return std::ranges::all_of(part, [](unsigned char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             c >= 0x80;
    });
  };
  auto split = text.find(':');
  if (split == std::string_view::npos) split = text.rfind('.');
  if (split == std::string_view::npos || !is_name(text.substr(split + 1))) return std::nullopt;
  const std::string_view module = text.substr(0, split);
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    if (!is_name(module.substr(begin, end - begin))) return std::nullopt;
    if (end == module.size()) break;
    begin = end + 1;
  }
  if (module == "__main__") return std::nullopt;
  return fmt::format("{}:{}", module, text.substr(split + 1));
}

}  // namespace nexuml
