// The walk along a target's schema: nested recipes become calls of targets, and calls recipes again.
#include <fmt/format.h>

#include <algorithm>

#include "recipe/built_in_targets.h"
#include "recipe/known_targets.h"
#include "recipe/recipe_reader.h"

namespace nexuml {
namespace {

using detail::KeyPath;
using Kind = TypeNode::Kind;

bool names_target(const TypeNode& type) {
  return type.kind == Kind::structure && type.structure->factory_of;
}

// `torch.nn:Linear` -> `torch.nn.Linear`, the spelling of recipes.
std::string dotted(std::string spelling) {
  std::ranges::replace(spelling, ':', '.');
  return spelling;
}

bool holds_recipe(const Value& value) {
  if (looks_like_recipe(value)) return true;
  if (value.is_list()) return std::ranges::any_of(value.items(), holds_recipe);
  return value.is_map() && std::ranges::any_of(value.entries(), [](const Value::Entry& entry) {
           return holds_recipe(entry.value);
         });
}

}  // namespace

Value RecipeReader::raise(const TypeNode& type, const Value& value, const KeyPath& path,
                          const Nested& nested) {
  if (nested.empty()) return value;
  if (names_target(type)) {
    const auto found = nested.find(path.text());
    return found == nested.end() ? value : found->second.to_value();
  }
  Value result = value;
  const auto raise_items = [&](const auto& type_of) {
    for (std::size_t i = 0; i < result.size(); ++i)
      result.items()[i] = raise(type_of(i), value.items()[i], KeyPath(path, i), nested);
  };
  switch (type.kind) {
    case Kind::optional:
      return value.is_null() ? value : raise(type.of.front(), value, path, nested);
    case Kind::list:
      raise_items([&](std::size_t) -> const TypeNode& { return type.of.front(); });
      return result;
    case Kind::tuple:
      raise_items([&](std::size_t i) -> const TypeNode& { return type.of[i]; });
      return result;
    case Kind::map:
      for (Value::Entry& entry : result.entries())
        entry.value = raise(type.of.front(), Value(entry.value), KeyPath(path, entry.key), nested);
      return result;
    case Kind::structure:
      for (Value::Entry& entry : result.entries())
        if (const FieldNode* field = type.structure->find(entry.key))
          entry.value = raise(field->type, Value(entry.value), KeyPath(path, entry.key), nested);
      return result;
    case Kind::one_of:
      for (const TypeNode& alternative : type.of)
        if (outline_fits(alternative, value)) return raise(alternative, value, path, nested);
      return value;
    default:
      return value;
  }
}

Value RecipeReader::lower(const TypeNode& type, const Value& value, const std::string& timestamp,
                          const KeyPath& path, Nested& nested, Differences& differences) {
  if (names_target(type) && value.is_map())
    return lower_target(*type.structure->factory_of, value, timestamp, path, nested);
  const auto into = [&](const TypeNode& element, const Value& item, const KeyPath& place) {
    return lower(element, item, timestamp, place, nested, differences);
  };
  Value result = value;
  switch (type.kind) {
    case Kind::optional:
      return value.is_null() ? value : into(type.of.front(), value, path);
    case Kind::list:
    case Kind::tuple:
      if (!value.is_list() || (type.kind == Kind::tuple && value.size() != type.of.size())) return value;
      for (std::size_t i = 0; i < value.size(); ++i)
        result.items()[i] =
            into(type.kind == Kind::tuple ? type.of[i] : type.of.front(), value.items()[i], KeyPath(path, i));
      return result;
    case Kind::map:
      if (!value.is_map()) return value;
      for (Value::Entry& entry : result.entries())
        entry.value = into(type.of.front(), Value(entry.value), KeyPath(path, entry.key));
      return result;
    case Kind::structure:
      if (!value.is_map()) return value;
      for (Value::Entry& entry : result.entries())
        if (const FieldNode* field = type.structure->find(entry.key))
          entry.value = into(field->type, Value(entry.value), KeyPath(path, entry.key));
      return result;
    case Kind::one_of: {
      const auto target = std::ranges::find_if(type.of, names_target);
      if (looks_like_recipe(value) && target != type.of.end()) return into(*target, value, path);
      for (const TypeNode& alternative : type.of)
        if (outline_fits(alternative, value)) return into(alternative, value, path);
      return value;
    }
    case Kind::any:
      if (!type.structure && holds_recipe(value))
        differences.push_back(
            fmt::format("{}: a recipe cannot stand here, where plain values are taken: it would not be built",
                        path.text()));
      return value;
    default:
      return value;
  }
}

Value RecipeReader::lower_target(TargetKind kind, const Value& value, const std::string& timestamp,
                                 const KeyPath& path, Nested& nested) {
  std::optional<Recipe> inner;
  const Value* factory = value.find("factory");
  if (!factory || value.find("cls_path")) {
    inner = read(value, kind, path);
  } else {
    // {factory, args, kwargs}: positional arguments get their names, and the whole becomes a recipe.
    const Value* args = value.find("args");
    const Value* kwargs = value.find("kwargs");
    // What a shared module was built from (core/train/shared_modules.h) stands beside its path.
    if (kwargs && kwargs->find("factory") && *factory == Value(kSharedTarget))
      return lower_target(kind, *kwargs, timestamp, path, nested);
    Diagnostics unreported;
    const auto target = factory->is_string()
                            ? KnownTargets(names_).target(kind, factory->as_string(), {}, unreported)
                            : nullptr;
    if (target && args && kwargs && args->is_list() && kwargs->is_map() &&
        args->size() <= target->arguments->fields.size()) {
      Value arguments = *kwargs;
      for (std::size_t i = 0; i < args->size(); ++i) {
        const std::string& name = target->arguments->fields[i].name;
        if (kwargs->find(name)) return value;  // given twice: the schema's check says so
        arguments.set(name, args->items()[i]);
      }
      inner = make(Value(dotted(factory->as_string())).at_position(factory->position()), timestamp, arguments,
                   kind, path);
    } else {
      return value;
    }
  }
  if (!inner) return value;
  Value call =
      Value::map({{"factory", inner->target()}, {"args", Value::list()}, {"kwargs", inner->arguments()}});
  nested.insert_or_assign(path.text(), std::move(*inner));
  return std::move(call.at_position(value.position()));
}

}  // namespace nexuml
