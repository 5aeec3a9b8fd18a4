#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "train/strategy_dict.h"
#include "train/strategy_rules.h"

namespace nexuml {

namespace {

class DictReader {
 public:
  DictReader(const Value& dict, const ComponentRegistry& registry) : dict_(dict), registry_(registry) {}

  StrategyDict read() {
    if (!dict_.is_map()) {
      malformed("the dict of a strategy is a map", dict_, {});
      throw Error(std::move(problems_));
    }
    only_known_keys(dict_, kKeys, {});
    each("models", [&](const std::string& name, const Value& value, const std::string& path) {
      if (auto recipe = recipe_at(value, TargetKind::module, path))
        parts_.models.push_back({name, nullptr, std::move(recipe)});
    });
    each("optimizers", [&](const std::string& name, const Value& value, const std::string& path) {
      if (auto owned = owned_part(value, "model", TargetKind::optimizer, path))
        parts_.optimizers.push_back({name, std::move(owned->owner), std::move(owned->recipe)});
    });
    each("schedulers", [&](const std::string& name, const Value& value, const std::string& path) {
      if (auto owned = owned_part(value, "optimizer", TargetKind::scheduler, path))
        parts_.schedulers.push_back({name, std::move(owned->owner), std::move(owned->recipe),
                                     count_at(value, "warmup_epochs", 0, path)});
    });
    read_losses();
    read_callables();
    read_length();
    if (problems_.has_errors()) throw Error(std::move(problems_));
    check_strategy_parts(parts_.models, parts_.optimizers, parts_.schedulers, parts_.losses);
    return std::move(parts_);
  }

 private:
  using Keys = std::vector<std::string_view>;
  static inline const Keys kKeys{
      "models", "optimizers", "schedulers", "losses", "training_fn", "loss_target_assembler", "length"};
  struct Owned {
    std::string owner;
    Recipe recipe;
  };

  void malformed(const std::string& message, const Value& at, const std::string& path) {
    problems_.error("E748", message, Where(at.position(), path));
  }
  void only_known_keys(const Value& map, const Keys& known, const std::string& path) {
    for (const Value::Entry& entry : map.entries())
      if (std::ranges::find(known, entry.key) == known.end())
        malformed(fmt::format("there is no '{}' in {}", entry.key,
                              path.empty() ? "the dict of a strategy" : "this part of a strategy"),
                  entry.value, path.empty() ? entry.key : fmt::format("{}.{}", path, entry.key));
  }
  template <class Read>
  void each(const char* key, const Read& read) {
    const Value* parts = dict_.find(key);
    if (!parts || !parts->is_map())
      return malformed(fmt::format("the dict of a strategy holds a map '{}'", key), dict_, key);
    for (const Value::Entry& entry : parts->entries())
      read(entry.key, entry.value, fmt::format("{}.{}", key, entry.key));
  }
  std::optional<Owned> owned_part(const Value& value, const char* owner_key, TargetKind kind,
                                  const std::string& path) {
    const Value* owner = value.is_map() ? value.find(owner_key) : nullptr;
    const Value* spec = value.is_map() ? value.find("spec") : nullptr;
    if (!owner || !owner->is_string() || !spec) {
      malformed(fmt::format("{} and spec are needed here", owner_key), value, path);
      return std::nullopt;
    }
    only_known_keys(
        value,
        kind == TargetKind::scheduler ? Keys{owner_key, "spec", "warmup_epochs"} : Keys{owner_key, "spec"},
        path);
    auto recipe = recipe_at(*spec, kind, path + ".spec");
    if (!recipe) return std::nullopt;
    return Owned{owner->as_string(), *std::move(recipe)};
  }
  void read_losses() {
    const Value* losses = dict_.find("losses");
    if (!losses || !losses->is_list())
      return malformed("the dict of a strategy holds a list 'losses'", dict_, "losses");
    for (std::size_t i = 0; i < losses->size(); ++i)
      read_loss(losses->items()[i], fmt::format("losses[{}]", i));
  }
  void read_loss(const Value& value, const std::string& path) {
    const Value* spec = value.is_map() ? value.find("spec") : nullptr;
    const Value* weight = value.is_map() ? value.find("weight") : nullptr;
    if (!spec || !weight) return malformed("spec and weight are needed here", value, path);
    only_known_keys(value, {"spec", "weight", "key"}, path);
    const Value* key = value.find("key");
    if (key && !key->is_string()) malformed("the key of a loss is text", *key, path + ".key");
    std::optional<Recipe> schedule;
    if (!weight->is_number()) schedule = recipe_at(*weight, TargetKind::weight_schedule, path + ".weight");
    auto recipe = recipe_at(*spec, TargetKind::loss, path + ".spec");
    if (!recipe) return;
    parts_.losses.push_back({*std::move(recipe), weight->is_number() ? weight->as_number() : 1.0,
                             key && key->is_string() ? key->as_string() : std::string()});
    parts_.weights.push_back(std::move(schedule));
  }
  void read_callables() {
    if (const Value* function = dict_.find("training_fn")) {
      parts_.tells_training_fn = true;
      if (function->is_string())
        parts_.training_fn = TrainingFunctionRef::named(function->as_string());
      else if (!function->is_null())
        malformed("training_fn is the name of a function or null", *function, "training_fn");
    }
    if (const Value* assembler = dict_.find("loss_target_assembler")) {
      parts_.had_loss_target_assembler = *assembler == Value(true);
      if (!assembler->is_boolean())
        malformed("loss_target_assembler says whether there was one: true or false", *assembler,
                  "loss_target_assembler");
    }
  }
  void read_length() {
    const Value* length = dict_.find("length");
    if (!length) return;
    if (!length->is_map()) return malformed("length holds max_epochs and steps_per_epoch", *length, "length");
    only_known_keys(*length, {"max_epochs", "steps_per_epoch"}, "length");
    parts_.length = {count_at(*length, "max_epochs", 1, "length"),
                     count_at(*length, "steps_per_epoch", 1, "length")};
  }
  std::int64_t count_at(const Value& map, const char* key, std::int64_t otherwise, const std::string& path) {
    const Value* found = map.find(key);
    if (!found) return otherwise;
    if (found->is_integer() && found->as_integer() >= otherwise) return found->as_integer();
    malformed(fmt::format("{} is a whole number of at least {}", key, otherwise), *found,
              fmt::format("{}.{}", path, key));
    return otherwise;
  }
  std::optional<Recipe> recipe_at(const Value& value, TargetKind kind, const std::string& path) {
    return read_recipe(registry_, value, {.kind = kind, .key_path = path}, problems_);
  }

  const Value& dict_;
  const ComponentRegistry& registry_;
  Diagnostics problems_;
  StrategyDict parts_;
};

}  // namespace

StrategyDict read_strategy_dict(const Value& dict, const ComponentRegistry& registry) {
  return DictReader(dict, registry).read();
}

}  // namespace nexuml
