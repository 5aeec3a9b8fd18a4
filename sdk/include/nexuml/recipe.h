// Recipes: JSON that says how to rebuild one object.
//
//     Recipe recipe = create_model_spec(registry, "torch.nn.Linear", {{"in_features", 8}, {"out_features", 4}});
//     // {"cls_path": "torch.nn.Linear", "timestamp": "2026-07-27T18:04:11.921043+00:00", "in_features": 8, ...}
//     const std::string text = recipe.to_json();
//     Recipe again = create_model_spec_from_json(registry, text, "model.json");     // again == recipe
//     auto linear = build<TargetKind::module>(again, registry);                     // recipe_build.h
//
// A recipe is flat: `cls_path` names a target, `timestamp` says when it was written, every other field is an
// argument of that target. It can only name what a library registered as buildable, so reading one runs no
// code. All arguments are recorded, defaults too: a default that changes later does not change what is
// rebuilt.
//
// An argument that holds a target (a described struct with `factory_of`, such as TargetCall) stands as a
// recipe of its own, also inside lists, tuples, maps, optionals and structs. Arguments that a target gets
// when it is built (an optimizer's parameters) are never written. Values are checked against the target's
// schema as it is now; what no longer fits is one Error E741 with the target, the timestamp and every
// difference. [any thread]
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/registry.h>
#include <nexuml/schema.h>
#include <nexuml/target.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nexuml {

// A target with arguments, as an argument of another target:
//     struct Ensemble { std::vector<TargetCall<TargetKind::module>> members; ... };
//     members[0].build(*context.targets, context)
// In scenarios it is written {factory, args, kwargs}, in recipes as a nested recipe.
template <TargetKind K>
struct TargetCall {
  using Contract = TargetContract<K>;

  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  static void describe(Schema<TargetCall>& s) {
    s.field("factory", &TargetCall::factory).doc("The target to build, as module:name.").required();
    s.field("args", &TargetCall::args).doc("Positional arguments.");
    s.field("kwargs", &TargetCall::kwargs).doc("Arguments by name.");
    s.factory_of(K);
  }
  std::shared_ptr<typename Contract::Product> build(const Targets& targets,
                                                    const typename Contract::Context& context) const {
    return targets.make<K>(factory, args, kwargs)->build(context);
  }
  bool operator==(const TargetCall&) const = default;
};

class NEXUML_EXPORT Recipe {
 public:
  // As it was written; a spelling that was read is the spelling that is written.
  const std::string& cls_path() const noexcept { return cls_path_; }
  const std::string& timestamp() const noexcept { return timestamp_; }
  TargetKind kind() const noexcept { return kind_; }
  const std::string& target() const noexcept { return target_; }  // torch.nn:Linear

  // Every argument in the target's order, nested targets as recipes.
  const Value& fields() const noexcept { return fields_; }
  // The same as keyword arguments of the target, nested targets as {factory, args, kwargs}.
  const Value& arguments() const noexcept { return arguments_; }

  Value to_value() const;  // {cls_path, timestamp, fields...}
  // The one spelling of this recipe in bytes: reading and writing it again gives the same bytes.
  std::string to_json() const;

  // Same target, same arguments: neither the time nor the spelling of a target counts, at any depth.
  friend NEXUML_EXPORT bool operator==(const Recipe& left, const Recipe& right);

 private:
  friend class RecipeReader;
  std::string cls_path_, timestamp_, target_;
  TargetKind kind_ = TargetKind::module;
  Value fields_ = Value::map(), arguments_ = Value::map();
};

struct RecipeOptions {
  std::optional<TargetKind> kind = std::nullopt;  // what is expected; any kind when nothing is said
  std::string timestamp = {};                     // of a recipe that is made; empty: now
  std::string key_path = {};                      // where the recipe stands, for messages
};

// "2026-07-27T18:04:11.921043+00:00": UTC, microseconds.
NEXUML_EXPORT std::string recipe_timestamp_now();

// ---- making

// Arguments by name; nested targets as recipes or as {factory, args, kwargs}. Throws Error E733, E736, E740,
// E741 or E745. `names` is the registry (or a catalog).
NEXUML_EXPORT Recipe create_model_spec(const Names& names, const std::string& cls_path,
                                       const Value& arguments = Value::map(),
                                       const RecipeOptions& options = {});
inline Recipe create_model_spec(const Names& names, const std::string& cls_path,
                                std::initializer_list<std::pair<std::string, Value>> arguments,
                                const RecipeOptions& options = {}) {
  return create_model_spec(names, cls_path, Value::map(arguments), options);
}

namespace detail {
// The target that is registered for the type `tag`, in the spelling of recipes. Throws Error E742 naming
// `type`.
NEXUML_EXPORT std::string cls_path_of(const ComponentRegistry& registry, TypeTag tag,
                                      const std::string& type);
}  // namespace detail

// From the described arguments of a registered target: `create_model_spec(registry, Linear{.in_features = 8,
// ...})`.
template <Described T>
Recipe create_model_spec(const ComponentRegistry& registry, const T& arguments,
                         const RecipeOptions& options = {}) {
  return create_model_spec(registry, detail::cls_path_of(registry, type_tag<T>(), schema_of<T>()->name),
                           write(arguments, &registry), options);
}
// From arguments that the registry made.
NEXUML_EXPORT Recipe create_model_spec(const ComponentRegistry& registry, const TargetModel& model,
                                       const RecipeOptions& options = {});

// The recipe of a definition is its lowering with the time: {type, version, params, timestamp}.
NEXUML_EXPORT Value definition_recipe(const ComponentRegistry& registry, const Definition& definition,
                                      std::string timestamp = {});
NEXUML_EXPORT Definition definition_from_recipe(const ComponentRegistry& registry, ComponentKind kind,
                                                const Value& recipe);

// ---- reading

// Reports every problem of the document; nothing is returned when there was one.
NEXUML_EXPORT std::optional<Recipe> read_recipe(const Names& names, const Value& document,
                                                const RecipeOptions& options, Diagnostics& problems);
// The same, throwing Error with every problem. `name` stands for the text in messages.
NEXUML_EXPORT Recipe create_model_spec_from_json(const Names& names, const Value& document,
                                                 const RecipeOptions& options = {});
NEXUML_EXPORT Recipe create_model_spec_from_json(const Names& names, std::string_view json,
                                                 const std::string& name, const RecipeOptions& options = {});

// Whether a value looks like a recipe: a map with `cls_path` and `timestamp`.
NEXUML_EXPORT bool looks_like_recipe(const Value& value) noexcept;

}  // namespace nexuml
