// A strategy's dict: what is written of its parts, and the parts that a dict names, with recipes and without
// objects.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/registry.h>
#include <nexuml/training_strategy.h>
#include <nexuml/value.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

// Recipes of models that were tried before: a training that saves often builds the copy of a model once.
class VerifiedRecipes {
 public:
  // Throws Error E747.
  Recipe recipe_of(const StrategyModel& model, const ComponentRegistry& registry);

 private:
  struct Seen {
    std::string recipe;  // without its times
    std::map<std::string, std::string> outline;
    bool operator==(const Seen&) const = default;
  };
  OrderedMap<Seen> seen_;
};

struct OmittedModel {
  std::string name, cause;
};

// Throws Error E748 for parts that do not fit together. What equals `previous` but for times keeps its bytes.
Value write_strategy_dict(const TrainingStrategy& strategy, const Value* previous, VerifiedRecipes& verified,
                          std::vector<OmittedModel>& omitted);

struct StrategyDict {
  std::vector<StrategyModel> models;
  std::vector<StrategyOptimizer> optimizers;
  std::vector<StrategyScheduler> schedulers;
  std::vector<StrategyLoss> losses;
  std::vector<std::optional<Recipe>> weights;  // of each loss; none for a constant weight
  TrainingFunctionRef training_fn;
  bool tells_training_fn = false;  // its name, or that there is none
  bool had_loss_target_assembler = false;
  TrainingLength length;
};

// Throws Error with every problem.
StrategyDict read_strategy_dict(const Value& dict, const ComponentRegistry& registry);

}  // namespace nexuml
