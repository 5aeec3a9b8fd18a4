#include "recipe/recipe_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "recipe/built_in_targets.h"
#include "recipe/known_targets.h"
#include "recipe/timestamp.h"
#include "scenario/document.h"

namespace nexuml {
namespace {

using detail::KeyPath;

// A recipe inside a recipe inside ...: more than anybody writes, and far less than the stack holds.
constexpr int kMaxRecipeDepth = 50;

constexpr std::array kBuildableKinds{
    TargetKind::module,          TargetKind::optimizer,     TargetKind::scheduler, TargetKind::loss,
    TargetKind::weight_schedule, TargetKind::hook,          TargetKind::callback,  TargetKind::strategy,
    TargetKind::writer,          TargetKind::decision_rule, TargetKind::function,  TargetKind::value};

const Value::Entry* argument_named(const Value& map, std::string_view key) {
  const auto found = std::ranges::find(map.entries(), key, &Value::Entry::key);
  return found == map.entries().end() ? nullptr : &*found;
}

std::string keys_in_words(const Value& map) {
  std::vector<std::string> keys;
  for (const Value::Entry& entry : map.entries()) keys.push_back(entry.key);
  return keys.empty() ? "no field" : fmt::format("{}", fmt::join(keys, ", "));
}

// One problem of an argument as a part of the sentence about the whole recipe.
std::string as_difference(const Diagnostic& problem) {
  std::string text = problem.message;
  if (!problem.where.key_path.empty()) text = fmt::format("{}: {}", problem.where.key_path, text);
  std::string aside = problem.where.line ? fmt::format("line {}", problem.where.line) : std::string();
  if (!problem.hint.empty()) aside += aside.empty() ? problem.hint : "; " + problem.hint;
  return aside.empty() ? text : fmt::format("{} ({})", text, aside);
}

}  // namespace

bool looks_like_recipe(const Value& value) noexcept {
  return value.is_map() && value.find("cls_path") && value.find("timestamp");
}

std::optional<Recipe> RecipeReader::read(const Value& document, std::optional<TargetKind> kind,
                                         const KeyPath& path) {
  if (!document.is_map()) {
    problems_
        .error("E740",
               fmt::format("a recipe is a map with cls_path and timestamp, found {}",
                           describe_for_message(document)),
               Where(document.position(), path.text()))
        .hint = "write {\"cls_path\": ..., \"timestamp\": ..., one field per argument}";
    return std::nullopt;
  }
  bool valid = true;
  const auto refuse = [&](const char* field, const std::string& message, const Position& at) {
    problems_.error("E740", message, Where(at, KeyPath(path, field).text()));
    valid = false;
  };
  for (const char* field : {"cls_path", "timestamp"}) {
    const Value* found = document.find(field);
    if (!found)
      refuse(field, fmt::format("the recipe has no {}; it has {}", field, keys_in_words(document)),
             document.position());
    else if (!found->is_string())
      refuse(field, fmt::format("{} has to be text, got {}", field, describe_for_message(*found)),
             found->position());
  }
  if (!valid) return std::nullopt;
  const Value& timestamp = document.at("timestamp");
  if (!detail::is_recipe_timestamp(timestamp.as_string()))
    refuse("timestamp",
           fmt::format(
               "the timestamp of a recipe is a time in UTC such as 2026-07-27T18:04:11.921043+00:00, got {}",
               describe_for_message(timestamp)),
           timestamp.position());

  Value::Map arguments;
  for (const Value::Entry& entry : document.entries())
    if (entry.key != "cls_path" && entry.key != "timestamp") arguments.push_back(entry);
  auto recipe = make(document.at("cls_path"), timestamp.as_string(),
                     Value(std::move(arguments)).at_position(document.position()), kind, path);
  return valid ? std::move(recipe) : std::nullopt;
}

std::shared_ptr<const TargetNode> RecipeReader::find_target(std::optional<TargetKind> kind,
                                                            const Value& cls_path,
                                                            const std::string& timestamp,
                                                            const KeyPath& path) {
  const std::string& spelling = cls_path.as_string();
  const Where at(cls_path.position(), KeyPath(path, "cls_path").text());
  if (auto built_in = built_in_target(spelling);
      built_in && kind.value_or(built_in->kind) == built_in->kind) {
    // A module is shared with another recipe of the document, and a pipeline is no module of one tensor.
    const bool nested = depth_ > 0;
    if (nested == (built_in->path == kSharedTarget)) return built_in;
    problems_.error(
        "E745", fmt::format("{} stands only {}", spelling, nested ? "by itself" : "inside another recipe"),
        at);
    return nullptr;
  }
  // Where any kind will do, each is asked; what the first one says about a miss is said.
  Diagnostics missed;
  for (const TargetKind candidate : kBuildableKinds) {
    if (kind && candidate != *kind) continue;
    Diagnostics found;
    if (auto target = names_.target(candidate, spelling, at, found)) {
      problems_.append(found);
      return target;
    }
    if (missed.empty()) missed = found;
  }
  for (Diagnostic problem : missed) {
    const std::string_view any_kind = "no module is registered as";
    if (!kind && problem.message.starts_with(any_kind))
      problem.message =
          fmt::format("no library registered a target as{}", problem.message.substr(any_kind.size()));
    problem.message += fmt::format("; a recipe of {} names it", timestamp);
    problems_.add(std::move(problem));
  }
  return nullptr;
}

std::optional<Recipe> RecipeReader::make(const Value& cls_path, const std::string& timestamp,
                                         const Value& arguments, std::optional<TargetKind> kind,
                                         const KeyPath& path) {
  if (depth_ == kMaxRecipeDepth) {
    problems_.error("E745", fmt::format("recipes are nested more than {} deep", kMaxRecipeDepth),
                    Where(cls_path.position(), path.text()));
    return std::nullopt;
  }
  const auto target = find_target(kind, cls_path, timestamp, path);
  if (!target) return std::nullopt;

  const std::size_t before = problems_.size();
  Nested nested;
  Differences differences;
  ++depth_;
  Value fitted = fit(*target, timestamp, arguments, path, nested, differences);
  --depth_;
  if (!differences.empty())
    problems_
        .error("E741",
               fmt::format("the recipe of {}, written {}, does not fit this target: {}", cls_path.as_string(),
                           timestamp, fmt::join(differences, "; ")),
               Where(cls_path.position(), path.text()))
        .hint =
        built_in_target(target->path)
            ? std::string()
            : fmt::format("`nexuml-run inspect {}` shows its arguments as they are now", target->path);
  if (problems_.size() != before) return std::nullopt;

  Recipe recipe;
  recipe.cls_path_ = cls_path.as_string();
  recipe.timestamp_ = timestamp;
  recipe.kind_ = target->kind;
  recipe.target_ = target->path;
  for (const FieldNode& field : target->arguments->fields)
    recipe.fields_.set(field.name,
                       raise(field.type, fitted.at(field.name), KeyPath(path, field.name), nested));
  recipe.arguments_ = std::move(fitted);
  return recipe;
}

Value RecipeReader::fit(const TargetNode& target, const std::string& timestamp, const Value& arguments,
                        const KeyPath& path, Nested& nested, Differences& differences) {
  const StructNode& schema = *target.arguments;
  std::vector<std::string> known;
  for (const FieldNode& field : schema.fields) known.push_back(field.name);
  for (const Value::Entry& entry : arguments.entries()) {
    if (schema.find(entry.key)) continue;
    Diagnostic problem{.code = "E741",
                       .severity = Severity::error,
                       .message = {},
                       .where = Where(entry.key_position),
                       .hint = {}};
    if (std::ranges::find(target.injected, entry.key) != target.injected.end()) {
      problem.message = fmt::format("'{}' is passed when it is built and never written", entry.key);
    } else {
      problem.message = fmt::format("it has no argument '{}'", entry.key);
      problem.hint = did_you_mean(entry.key, known);
    }
    differences.push_back(as_difference(problem));
  }

  // A nested recipe that is wrong was reported by itself: its argument is not looked at again.
  const std::size_t before = problems_.size();
  Value fitted = Value::map();
  for (const FieldNode& field : schema.fields) {
    const Value::Entry* given = argument_named(arguments, field.name);
    if (!given && field.required) {
      differences.push_back(
          fmt::format("the argument '{}' is missing: {} expected", field.name, type_in_words(field.type)));
      continue;
    }
    const KeyPath place(path, field.name);
    const std::size_t reported = problems_.size();
    Value lowered = given ? given->value : field.default_value;
    if (target.path == kPipelineTarget) {
      lowered = fit_scenario(lowered, place, differences);
    } else {
      lowered = lower(field.type, lowered, timestamp, place, nested, differences);
      if (problems_.size() == reported && given)
        lowered = check_argument(field.type, lowered, place, differences);
    }
    fitted.set(field.name, std::move(lowered));
  }
  if (differences.empty() && problems_.size() == before && schema.rules) {
    Diagnostics found;
    schema.rules(fitted, path.text(), found);
    for (const Diagnostic& problem : found) differences.push_back(as_difference(problem));
  }
  return fitted;
}

Value RecipeReader::check_argument(const TypeNode& type, const Value& value, const KeyPath& path,
                                   Differences& differences) const {
  Diagnostics found;
  const KnownTargets known_targets(names_);
  Value checked = check_value(type, value, {&known_targets, path.text()}, found);
  for (const Diagnostic& problem : found) differences.push_back(as_difference(problem));
  return checked;
}

// A scenario keeps its own form, in which factories are no recipes, and its own rules.
Value RecipeReader::fit_scenario(const Value& scenario, const KeyPath& path, Differences& differences) const {
  if (!scenario.is_map()) {
    differences.push_back(
        fmt::format("{}: a scenario expected, got {}", path.text(), describe_for_message(scenario)));
    return scenario;
  }
  Diagnostics found;
  Value checked = check_scenario(scenario, {.names = &names_}, found);
  for (Diagnostic problem : found) {
    if (problem.severity != Severity::error) continue;
    problem.where.key_path = KeyPath(path, problem.where.key_path).text();
    differences.push_back(as_difference(problem));
  }
  return checked;
}

}  // namespace nexuml
