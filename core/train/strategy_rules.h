// Which parts belong together in a strategy. All throw Error E748.
#pragma once

#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <nexuml/recipe.h>
#include <nexuml/training_strategy.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nexuml {

template <class Part>
std::vector<std::string> part_names(const std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  return names;
}

template <class Part>
const Part& part_named(const std::vector<Part>& parts, const std::string& name, const std::string& owner,
                       const char* what) {
  const auto found = std::ranges::find(parts, name, &Part::name);
  if (found != parts.end()) return *found;
  throw Error("E748", fmt::format("{} belongs to the {} '{}', which is not there", owner, what, name), {},
              did_you_mean(name, part_names(parts)));
}

// Names are there, each once; optimizers and schedulers belong to parts that exist; recipes are of the right
// kind.
void check_strategy_parts(const std::vector<StrategyModel>& models,
                          const std::vector<StrategyOptimizer>& optimizers,
                          const std::vector<StrategyScheduler>& schedulers,
                          const std::vector<StrategyLoss>& losses);
void require_recipe_kind(const Recipe& recipe, TargetKind kind, const std::string& owner);

}  // namespace nexuml
