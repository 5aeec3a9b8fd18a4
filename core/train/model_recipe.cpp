#include <c10/util/Type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/compile.h>
#include <nexuml/model_recipe.h>
#include <nexuml/pipeline.h>
#include <nexuml/recipe_build.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/guard.h"
#include "recipe/built_in_targets.h"
#include "train/model_outline.h"
#include "train/random_streams.h"

namespace nexuml {

HasCheckpointSpec::~HasCheckpointSpec() = default;
DescribedModule::~DescribedModule() = default;

namespace {

using Kind = TypeNode::Kind;

std::string class_of(const torch::nn::Module& module) {
  return c10::demangle(typeid(module).name());
}

// `members[0].head` -> `members.0.head`, the name of a child.
std::string child_name(std::string path) {
  std::erase(path, ']');
  std::ranges::replace(path, '[', '.');
  return path;
}

const torch::nn::Module* find_child(const torch::nn::Module& module, const std::string& name) {
  for (const auto& item : module.named_modules({}, false))
    if (item.key() == name) return item.value().get();
  return nullptr;
}

// Looks for the recipe of one model and of its children.
class Resolution {
 public:
  Resolution(const ComponentRegistry& registry, std::string timestamp)
      : registry_(registry), timestamp_(std::move(timestamp)) {}

  // The recipe of `module` as a value, or nothing when it says nothing of itself. `path` is its place in the
  // recipe of the outermost model.
  std::optional<Value> recipe_of(const torch::nn::Module& module, const std::string& path) {
    if (const auto* own = dynamic_cast<const HasCheckpointSpec*>(&module)) {
      Value spec = guarded("E747", fmt::format("checkpoint_spec() of {}", class_of(module)), {},
                           [&] { return own->checkpoint_spec(registry_); });
      if (looks_like_recipe(spec)) return spec;
      if (!spec.is_null())
        throw Error("E747", fmt::format("checkpoint_spec() of {} has to give a recipe or null, got {}",
                                        class_of(module), describe_for_message(spec)));
    }
    const auto* described = dynamic_cast<const DescribedModule*>(&module);
    if (!described) return std::nullopt;
    const std::string cls_path =
        detail::cls_path_of(registry_, described->arguments_tag(), described->arguments_name());
    const auto target = registry_.find_target(cls_path)->entry.node;
    Value recipe = Value::map({{"cls_path", cls_path}, {"timestamp", timestamp_}});
    const Value arguments = described->written_arguments(&registry_);
    for (const FieldNode& field : target->arguments->fields)
      recipe.set(field.name, with_children(field.type, arguments.at(field.name), module, field.name,
                                           path.empty() ? field.name : path + "." + field.name));
    return recipe;
  }

 private:
  // `inner` is the place inside the recipe of `owner`, `path` that inside the outermost.
  Value with_children(const TypeNode& type, const Value& value, const torch::nn::Module& owner,
                      const std::string& inner, const std::string& path) {
    const auto into = [&](const TypeNode& element, const Value& item, const std::string& step) {
      return with_children(element, item, owner, inner + step, path + step);
    };
    if (type.kind == Kind::structure && type.structure->factory_of) {
      const bool is_module = type.structure->factory_of == TargetKind::module;
      const auto* child = is_module && value.is_map() ? find_child(owner, child_name(inner)) : nullptr;
      return child ? child_recipe(*child, value, path) : value;
    }
    Value result = value;
    switch (type.kind) {
      case Kind::optional:
        return value.is_null() ? value : into(type.of.front(), value, {});
      case Kind::list:
      case Kind::tuple:
        for (std::size_t i = 0; i < value.size(); ++i)
          result.items()[i] = into(type.kind == Kind::tuple ? type.of[i] : type.of.front(), value.items()[i],
                                   fmt::format("[{}]", i));
        return result;
      case Kind::map:
        for (Value::Entry& entry : result.entries())
          entry.value = into(type.of.front(), Value(entry.value), "." + entry.key);
        return result;
      case Kind::structure:
        for (Value::Entry& entry : result.entries())
          if (const FieldNode* field = type.structure->find(entry.key))
            entry.value = into(field->type, Value(entry.value), "." + entry.key);
        return result;
      case Kind::one_of:
        for (const TypeNode& alternative : type.of)
          if (outline_fits(alternative, value)) return into(alternative, value, {});
        return value;
      default:
        return value;
    }
  }

  Value child_recipe(const torch::nn::Module& child, const Value& argument, const std::string& path) {
    if (const auto [first, is_new] = seen_.emplace(&child, path); !is_new)
      return Value::map(
          {{"cls_path", "nexuml.recipe.Shared"}, {"timestamp", timestamp_}, {"path", first->second}});
    return recipe_of(child, path).value_or(argument);
  }

  const ComponentRegistry& registry_;
  std::string timestamp_;
  std::map<const torch::nn::Module*, std::string> seen_;
};

void compare_outlines(const torch::nn::Module& live, const torch::nn::Module& copy,
                      std::vector<std::string>& differences) {
  if (class_of(live) != class_of(copy))
    differences.push_back(fmt::format("a {} was built, the model is a {}", class_of(copy), class_of(live)));
  const auto expected = model_outline(live), found = model_outline(copy);
  for (const auto& [name, what] : expected) {
    const auto other = found.find(name);
    if (other == found.end())
      differences.push_back(fmt::format("{} is missing", name));
    else if (other->second != what)
      differences.push_back(fmt::format("{} is {}, in the model {}", name, other->second, what));
  }
  for (const auto& [name, what] : found)
    if (!expected.contains(name)) differences.push_back(fmt::format("{} is not in the model", name));
}

void list_field_differences(const Value& left, const Value& right, const std::string& path,
                            std::vector<std::string>& differences) {
  if (left == right) return;
  if (left.is_map() && right.is_map() && left.size() == right.size()) {
    for (const Value::Entry& entry : left.entries())
      if (const Value* other = right.find(entry.key))
        list_field_differences(entry.value, *other, path.empty() ? entry.key : path + "." + entry.key,
                               differences);
    return;
  }
  differences.push_back(fmt::format("the copy describes itself with {} = {}, the model with {}", path,
                                    describe_for_message(right), describe_for_message(left)));
}

std::optional<Recipe> resolve(const torch::nn::Module& model, const ComponentRegistry& registry,
                              const RecipeOptions& options) {
  const std::string timestamp = options.timestamp.empty() ? recipe_timestamp_now() : options.timestamp;
  const auto value = Resolution(registry, timestamp).recipe_of(model, {});
  if (!value) return std::nullopt;
  RecipeOptions reading = options;
  reading.kind = TargetKind::module;
  return create_model_spec_from_json(registry, *value, reading);
}

// What a model says of itself, where it says something that holds.
std::optional<Recipe> claim_of(const torch::nn::Module& model, const ComponentRegistry& registry) {
  try {
    return resolve(model, registry, {});
  } catch (const Error&) {
    return std::nullopt;  // a recipe was given by hand, since this model cannot give one
  }
}

void compare_claims(const std::optional<Recipe>& model, const std::optional<Recipe>& copy,
                    std::vector<std::string>& differences) {
  if (!model || !copy || *model == *copy) return;
  if (model->target() != copy->target())
    differences.push_back(
        fmt::format("the copy describes itself as {}, the model as {}", copy->cls_path(), model->cls_path()));
  else
    list_field_differences(model->arguments(), copy->arguments(), {}, differences);
}

}  // namespace

std::map<std::string, std::string> model_outline(const torch::nn::Module& module) {
  std::map<std::string, std::string> result;
  const auto add = [&](const char* what, const auto& named) {
    for (const auto& item : named)
      result[fmt::format("{} {}", what, item.key())] =
          item.value().defined() ? fmt::format("[{}] {}", fmt::join(item.value().sizes(), ", "),
                                               c10::toString(item.value().scalar_type()))
                                 : std::string("nothing");
  };
  add("parameter", module.named_parameters());
  add("buffer", module.named_buffers());
  std::map<const torch::nn::Module*, std::string> first;
  for (const auto& item : module.named_modules({}, false)) {
    const auto [place, is_new] = first.emplace(item.value().get(), item.key());
    result[fmt::format("child {}", item.key())] =
        is_new ? class_of(*item.value()) : fmt::format("the same as {}", place->second);
  }
  return result;
}

Recipe claimed_recipe(const torch::nn::Module& model, const ComponentRegistry& registry,
                      const RecipeOptions& options) {
  auto recipe = resolve(model, registry, options);
  if (!recipe)
    throw Error("E747", fmt::format("{} says nothing of how it was built", class_of(model)), {},
                "derive it from BuiltFrom<Arguments>, give it checkpoint_spec(), or pass its recipe");
  return *std::move(recipe);
}

Recipe model_recipe(const torch::nn::Module& model, const ComponentRegistry& registry,
                    const RecipeOptions& options) {
  Recipe recipe = claimed_recipe(model, registry, options);
  verify_model_recipe(model, recipe, registry);
  return recipe;
}

void verify_model_recipe(const torch::nn::Module& model, const Recipe& recipe,
                         const ComponentRegistry& registry) {
  std::vector<std::string> differences;
  {
    // The copy draws its weights from streams that are put back.
    const RandomStreamsGuard streams(at::kCPU);
    const auto copy = build_model(recipe, registry);
    compare_outlines(model, *copy, differences);
    // A pipeline's recipe is its scenario, which it does not carry.
    if (differences.empty() && recipe.target() != kPipelineTarget)
      compare_claims(claim_of(model, registry), claim_of(*copy, registry), differences);
  }
  if (differences.empty()) return;
  constexpr std::size_t kShown = 8;
  const std::size_t hidden = differences.size() > kShown ? differences.size() - kShown : 0;
  if (hidden) differences.resize(kShown);
  throw Error("E747",
              fmt::format("the recipe of {} does not rebuild the model: {}{}", recipe.cls_path(),
                          fmt::join(differences, "; "), hidden ? fmt::format("; and {} more", hidden) : ""));
}

Recipe pipeline_recipe(const CompiledPipeline& pipeline, const ScenarioSpec& scenario,
                       const ComponentRegistry& registry, const RecipeOptions& options) {
  ScenarioSpec whole = scenario;
  // What the opened data told: a source that declares its shapes tells them again, others are written down.
  const auto declared = declared_data(scenario);
  if (!declared || !declared->complete)
    for (const auto& [key, spec] : pipeline.input_specs())
      if (!whole.data.input_shapes.contains(key)) whole.data.input_shapes[key] = spec.shape;
  return create_model_spec(registry, "nexuml.pipeline.CompiledPipeline",
                           {{"scenario", write(whole, &registry)}}, options);
}

}  // namespace nexuml
