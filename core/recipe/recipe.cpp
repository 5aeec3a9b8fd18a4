#include <fmt/format.h>
#include <nexuml/recipe.h>

#include <algorithm>

#include "recipe/recipe_reader.h"
#include "recipe/timestamp.h"

namespace nexuml {
namespace {

[[noreturn]] void throw_sorted(Diagnostics problems) {
  problems.sort();
  throw Error(std::move(problems));
}

std::string in_dots(std::string spelling) {
  std::ranges::replace(spelling, ':', '.');
  return spelling;
}

std::string time_or_now(const std::string& timestamp) {
  if (timestamp.empty()) return recipe_timestamp_now();
  if (!detail::is_recipe_timestamp(timestamp))
    throw Error(
        "E740",
        fmt::format("the timestamp of a recipe is a time in UTC such as 2026-07-27T18:04:11.921043+00:00, "
                    "got '{}'",
                    timestamp));
  return timestamp;
}

}  // namespace

Value Recipe::to_value() const {
  Value result = Value::map({{"cls_path", cls_path_}, {"timestamp", timestamp_}});
  for (const Value::Entry& field : fields_.entries()) result.set(field.key, field.value);
  return result;
}

std::string Recipe::to_json() const {
  return write_json(to_value()) + "\n";
}

bool operator==(const Recipe& left, const Recipe& right) {
  return left.kind_ == right.kind_ && left.target_ == right.target_ && left.arguments_ == right.arguments_;
}

Recipe create_model_spec(const Names& names, const std::string& cls_path, const Value& arguments,
                         const RecipeOptions& options) {
  if (!arguments.is_map())
    throw Error("E740", fmt::format("the arguments of a recipe are a map by name, got {}",
                                    describe_for_message(arguments)));
  Diagnostics problems;
  auto recipe = RecipeReader(names, problems)
                    .make(Value(cls_path), time_or_now(options.timestamp), arguments, options.kind,
                          detail::KeyPath(options.key_path));
  if (!recipe) throw_sorted(std::move(problems));
  return *std::move(recipe);
}

std::string detail::cls_path_of(const ComponentRegistry& registry, TypeTag tag, const std::string& type) {
  for (const auto* target : registry.targets())
    if (target->entry.tag == tag) return in_dots(target->entry.node->path);
  throw Error("E742", fmt::format("{} is registered as no target, so a recipe has no name for it", type), {},
              "register it with add_target in NEXUML_LIBRARY, or through ComponentRegistry::with_program");
}

Recipe create_model_spec(const ComponentRegistry& registry, const TargetModel& model,
                         const RecipeOptions& options) {
  return create_model_spec(registry,
                           detail::cls_path_of(registry, model.tag(), "the type of these arguments"),
                           model.arguments(), options);
}

Value definition_recipe(const ComponentRegistry& registry, const Definition& definition,
                        std::string timestamp) {
  Value recipe = registry.lower(definition);
  recipe.set("timestamp", time_or_now(timestamp));
  return recipe;
}

Definition definition_from_recipe(const ComponentRegistry& registry, ComponentKind kind,
                                  const Value& recipe) {
  const Value* timestamp = recipe.find("timestamp");
  if (!timestamp || !timestamp->is_string() || !detail::is_recipe_timestamp(timestamp->as_string()))
    throw Error("E740",
                "the recipe of a definition is {type, version, params, timestamp}; its timestamp is missing "
                "or no time in UTC",
                Where(timestamp ? timestamp->position() : recipe.position(), "timestamp"));
  Value component = recipe;
  component.erase("timestamp");
  Diagnostics problems;
  const TypeNode type{.kind = TypeNode::Kind::definition, .definition_kind = kind};
  const Value normalised = check_value(type, component, {&registry, {}}, problems);
  if (problems.has_errors()) throw_sorted(std::move(problems));
  return registry.restore(kind, normalised);
}

std::optional<Recipe> read_recipe(const Names& names, const Value& document, const RecipeOptions& options,
                                  Diagnostics& problems) {
  Diagnostics found;
  auto recipe = RecipeReader(names, found).read(document, options.kind, detail::KeyPath(options.key_path));
  found.sort();
  problems.append(found);
  return recipe;
}

Recipe create_model_spec_from_json(const Names& names, const Value& document, const RecipeOptions& options) {
  Diagnostics problems;
  auto recipe = read_recipe(names, document, options, problems);
  if (!recipe) throw_sorted(std::move(problems));
  return *std::move(recipe);
}

Recipe create_model_spec_from_json(const Names& names, std::string_view json, const std::string& name,
                                   const RecipeOptions& options) {
  Diagnostics problems;
  const Value document = parse_json(json, name, problems);
  if (problems.has_errors()) throw_sorted(std::move(problems));
  return create_model_spec_from_json(names, document, options);
}

}  // namespace nexuml
