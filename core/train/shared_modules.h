// The target table while a recipe with shared modules is built: each module that stands in several places is
// built once.
#pragma once

#include <nexuml/module.h>
#include <nexuml/recipe.h>
#include <nexuml/registry.h>

#include <map>
#include <memory>
#include <string>

namespace nexuml {

class SharedModules final : public Targets, public std::enable_shared_from_this<SharedModules> {
 public:
  explicit SharedModules(const ComponentRegistry& registry) : registry_(registry) {}

  // The arguments of `recipe`, the modules that others share marked. Throws Error E745 for a path that leads
  // nowhere.
  Value mark(const Recipe& recipe);

  using Targets::make;
  std::shared_ptr<const TargetModel> make(TargetKind kind, const std::string& spelling, const Value& args,
                                          const Value& kwargs) const override;
  // The arguments are those of a recipe, which was checked.
  std::shared_ptr<const TargetModel> make_checked(const std::string& target, const Value& arguments) const;

  // The module of the recipe at `path`, built when it is first asked for.
  std::shared_ptr<TensorModule> module_at(const std::string& path, const ModuleBuildContext& context) const;

 private:
  const ComponentRegistry& registry_;
  std::map<std::string, Value> calls_;  // {factory, args, kwargs} by key path
  mutable std::map<std::string, std::shared_ptr<TensorModule>> built_;
};

}  // namespace nexuml
