#include "train/shared_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "recipe/built_in_targets.h"

namespace nexuml {
namespace {

bool is_call(const Value& value) {
  return value.is_map() && value.find("factory") && value.find("args") && value.find("kwargs");
}

void collect_shared(const Value& value, std::set<std::string>& paths) {
  if (value.is_list())
    for (const Value& item : value.items()) collect_shared(item, paths);
  if (!value.is_map()) return;
  if (is_call(value) && value.at("factory") == Value(kSharedTarget))
    paths.insert(value.at("kwargs").at("path").as_string());
  for (const Value::Entry& entry : value.entries()) collect_shared(entry.value, paths);
}

// The node at a key path of a recipe, such as `members[0].head`, in arguments of calls. Null where there is
// none.
Value* find_at(Value& arguments, std::string_view path) {
  Value* at = &arguments;
  while (at && !path.empty()) {
    if (is_call(*at)) at = at->find("kwargs");
    if (path.front() == '[') {
      std::size_t index = 0;
      const auto [end, failure] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
      const bool fits = failure == std::errc{} && at->is_list() && index < at->size();
      at = fits ? &at->items()[index] : nullptr;
      path.remove_prefix(std::min(path.find(']'), path.size() - 1) + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      at = at->find(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return at;
}

// Stands for a module that is built once, by its path.
class SharedModel final : public TargetModelOf<TargetKind::module> {
 public:
  SharedModel(std::shared_ptr<const SharedModules> modules, std::string path, Value arguments)
      : modules_(std::move(modules)), path_(std::move(path)), arguments_(std::move(arguments)) {}
  TypeTag tag() const noexcept override { return nullptr; }
  const void* value() const noexcept override { return this; }
  Value arguments() const override { return arguments_; }
  std::optional<TensorSpec> infer(const TensorSpec&) const override { return std::nullopt; }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext& context) const override {
    return modules_->module_at(path_, context);
  }

 private:
  std::shared_ptr<const SharedModules> modules_;
  std::string path_;
  Value arguments_;
};

}  // namespace

Value SharedModules::mark(const Recipe& recipe) {
  Value arguments = recipe.arguments();
  std::set<std::string> paths;
  collect_shared(arguments, paths);
  // The longest first: what lies inside another shared module is marked before that one is taken out.
  std::vector<std::string> ordered(paths.begin(), paths.end());
  std::ranges::sort(ordered, std::greater(), &std::string::size);
  for (const std::string& path : ordered) {
    Value* call = find_at(arguments, path);
    if (!call || !is_call(*call) || call->at("factory") == Value(kSharedTarget))
      throw Error("E745",
                  fmt::format("the recipe of {}, written {}, shares the module at '{}', where none is built",
                              recipe.cls_path(), recipe.timestamp(), path));
    calls_.insert_or_assign(path, *call);
    Value kwargs = Value::map({{"path", path}});
    for (const Value::Entry& entry : calls_.at(path).entries()) kwargs.set(entry.key, entry.value);
    *call = Value::map({{"factory", kSharedTarget}, {"args", Value::list()}, {"kwargs", std::move(kwargs)}});
  }
  return arguments;
}

std::shared_ptr<const TargetModel> SharedModules::make_checked(const std::string& target,
                                                               const Value& arguments) const {
  const auto* entry = registry_.find_target(target);
  if (!entry) throw Error("E733", fmt::format("no target is registered as '{}'", target));
  return entry->entry.make(arguments);
}

std::shared_ptr<const TargetModel> SharedModules::make(TargetKind kind, const std::string& spelling,
                                                       const Value& args, const Value& kwargs) const {
  if (kind == TargetKind::module && spelling == kSharedTarget)
    return std::make_shared<const SharedModel>(shared_from_this(), kwargs.at("path").as_string(), kwargs);
  // A call from a recipe has every argument by name and was checked with it; only such a call can hold shared
  // ones.
  const auto* entry = registry_.find_target(spelling);
  if (entry && entry->entry.node->kind == kind && args.size() == 0 &&
      kwargs.size() == entry->entry.node->arguments->fields.size()) {
    std::set<std::string> shared;
    collect_shared(kwargs, shared);
    if (!shared.empty()) return entry->entry.make(kwargs);
  }
  return registry_.make(kind, spelling, args, kwargs);
}

std::shared_ptr<TensorModule> SharedModules::module_at(const std::string& path,
                                                       const ModuleBuildContext& context) const {
  if (const auto found = built_.find(path); found != built_.end()) {
    if (!found->second) throw Error("E745", fmt::format("the shared module at '{}' holds itself", path));
    return found->second;
  }
  const auto call = calls_.find(path);
  if (call == calls_.end())
    throw Error("E745", fmt::format("a recipe shares the module at '{}', where none is built", path));
  built_[path] = nullptr;  // in the making
  auto module = Targets::make<TargetKind::module>(call->second.at("factory").as_string(),
                                                  call->second.at("args"), call->second.at("kwargs"))
                    ->build(context);
  built_[path] = module;
  return module;
}

}  // namespace nexuml
