// Reads a recipe, or makes one from arguments: the walk along the target's schema that turns nested recipes
// into calls of targets and back. What a value has to look like is the schema room's; this room knows which
// places of a schema hold targets.
#pragma once

#include <nexuml/recipe.h>

#include <map>
#include <string>
#include <vector>

#include "schema/key_path.h"

namespace nexuml {

class RecipeReader {
 public:
  RecipeReader(const Names& names, Diagnostics& problems) : names_(names), problems_(problems) {}

  // Both give nothing after a problem was reported.
  std::optional<Recipe> read(const Value& document, std::optional<TargetKind> kind,
                             const detail::KeyPath& path);
  // `cls_path` is text, with its place; `timestamp` is valid.
  std::optional<Recipe> make(const Value& cls_path, const std::string& timestamp, const Value& arguments,
                             std::optional<TargetKind> kind, const detail::KeyPath& path);

 private:
  using Differences = std::vector<std::string>;
  // Nested recipes of the recipe that is being read, by their key path.
  using Nested = std::map<std::string, Recipe>;

  std::shared_ptr<const TargetNode> find_target(std::optional<TargetKind> kind, const Value& cls_path,
                                                const std::string& timestamp, const detail::KeyPath& path);
  // The arguments as the target takes them, nested targets as {factory, args, kwargs}; every difference from
  // the schema is added.
  Value fit(const TargetNode& target, const std::string& timestamp, const Value& arguments,
            const detail::KeyPath& path, Nested& nested, Differences& differences);

  Value check_argument(const TypeNode& type, const Value& value, const detail::KeyPath& path,
                       Differences& differences) const;
  Value fit_scenario(const Value& scenario, const detail::KeyPath& path, Differences& differences) const;

  // `lower` turns nested recipes into calls, and notes them; `raise` puts them back into lowered values.
  Value lower(const TypeNode& type, const Value& value, const std::string& timestamp,
              const detail::KeyPath& path, Nested& nested, Differences& differences);
  Value lower_target(TargetKind kind, const Value& value, const std::string& timestamp,
                     const detail::KeyPath& path, Nested& nested);

  static Value raise(const TypeNode& type, const Value& value, const detail::KeyPath& path,
                     const Nested& nested);

  const Names& names_;
  Diagnostics& problems_;
  int depth_ = 0;
};

}  // namespace nexuml
