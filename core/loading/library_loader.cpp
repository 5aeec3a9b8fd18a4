#include "loading/library_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "discovery/manifest.h"
#include "loading/agreement.h"
#include "loading/libtorch.h"
#include "loading/open_library.h"
#include "loading/operators.h"
#include "loading/requirement.h"
#include "loading/torch_symbols.h"
#include "recipe/built_in_targets.h"
#include "scenario/required_components.h"

namespace nexuml {
namespace {

// A scenario function asks for components of other libraries; each is loaded when it is asked for.
class LoadingContext final : public ScenarioContext {
 public:
  explicit LoadingContext(LibraryLoader& loader) : loader_(loader) {}
  Definition definition(const Identity& identity, const Value& params) const override {
    Diagnostics problems;
    if (!loader_.load_for(identity, problems)) throw Error(std::move(problems));
    return loader_.registry().definition(identity, params);
  }

 private:
  LibraryLoader& loader_;
};

}  // namespace

LibraryLoader::LibraryLoader(std::shared_ptr<const Catalog> catalog, Environment environment)
    : catalog_(std::move(catalog)),
      environment_(std::move(environment)),
      registry_(ComponentRegistry().explained_by(catalog_)) {}

std::optional<boost::dll::shared_library> LibraryLoader::open_own(const char* name,
                                                                  Diagnostics& problems) const {
  const auto folder = std::filesystem::path(environment_.components_dir).parent_path().parent_path();
  const std::string path = (folder / name).string();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    problems
        .error("E886", fmt::format("{} is missing: this host was built or installed without it", name),
               Where::in_file(path))
        .hint = "build with NEXUML_WITH_RUNTIME=ON, or install again";
    return std::nullopt;
  }
  return open_shared(path, Where::in_file(path), problems);
}

bool LibraryLoader::open_runtime(Diagnostics& problems) {
  if (runtime_opened_) return true;
  // A program that links LibTorch has it open; one more from elsewhere would be a second LibTorch beside it.
  if (!is_open("libtorch_cpu.so")) {
    const auto libtorch = find_libtorch(environment_, problems);
    if (!libtorch || !check_libtorch_version(*libtorch, problems)) return false;
    for (const char* name : {"libc10.so", "libtorch_cpu.so"}) {
      const std::string path = libtorch->library_dir + "/" + name;
      if (!open_shared(path, Where::in_file(path), problems)) return false;
    }
  }
  runtime_opened_ = open_own("libnexuml-runtime.so", problems).has_value();
  return runtime_opened_;
}

bool LibraryLoader::load(const DeclaredLibrary& library, Diagnostics& problems) {
  if (loaded_.contains(&library)) return true;
  const Where where = Where::in_library(library.origin.library, library.origin.path);
  if (failed_.contains(&library)) {
    problems.error("E409", "the library failed to load before", where);
    return false;
  }
  if (!library.usable()) {
    problems.error("E409", fmt::format("the library is {}: {}", to_string(library.state), library.reason),
                   where);
    return false;
  }
  failed_.insert(&library);  // until it is committed
  const auto order = opening_order(library, *catalog_, problems);
  if (order.empty()) return false;
  for (const auto* needed : order) {
    if (needed == &library) break;
    if (load(*needed, problems)) continue;
    problems.error("E503", fmt::format("it requires {}, which failed to load", needed->origin.library),
                   where);
    return false;
  }
  if (!open_and_commit(library, where, problems)) return false;
  failed_.erase(&library);
  loaded_.insert(&library);
  return true;
}

bool LibraryLoader::open_and_commit(const DeclaredLibrary& library, const Where& where,
                                    Diagnostics& problems) {
  const bool needs_tensors = library.abi_tag.find(";torch-") != std::string::npos;
  if (needs_tensors &&
      (!open_runtime(problems) || !check_torch_symbols(library.origin.path, where, problems)))
    return false;
  const bool operators = needs_tensors && registers_operators(library.origin.path);
  if (operators && !opens_beside(library, with_operators_, environment_, problems)) return false;
  if (operators) with_operators_.push_back(&library);
  const auto staged = open_library(library.origin.path, where, problems);
  if (!staged) return false;
  // What is wrong with the registration itself comes first: it explains a difference to the manifest.
  Diagnostics conflicts;
  (void)ComponentRegistry().with(*staged, library.origin, conflicts);
  if (conflicts.has_errors()) {
    problems.append(conflicts);
    return false;
  }
  if (!agrees_with_manifest(*staged, library, problems)) return false;
  auto extended = registry_.with(*staged, library.origin, conflicts);
  problems.append(conflicts);
  if (conflicts.has_errors()) return false;
  registry_ = std::move(extended);
  return true;
}

bool LibraryLoader::load_for(const Value& scenario, Diagnostics& problems) {
  bool all = true;
  for (const auto* library : libraries_needed(scenario, *catalog_)) all = load(*library, problems) && all;
  return all;
}

bool LibraryLoader::load_for(const Identity& identity, Diagnostics& problems) {
  if (registry_.find(identity)) return true;
  const auto* library = catalog_->provider(identity, {}, {}, problems);
  return library && load(*library, problems);
}

bool LibraryLoader::load_for_recipe(const Value& recipe, Diagnostics& problems) {
  bool all = true;
  if (recipe.is_list())
    for (const Value& item : recipe.items()) all = load_for_recipe(item, problems) && all;
  if (!recipe.is_map()) return all;
  const Value* scenario = recipe.find("scenario");
  const Value* cls_path = recipe.find("cls_path");
  if (scenario && cls_path && cls_path->is_string() &&
      canonical_target_spelling(cls_path->as_string()) == kPipelineTarget)
    return load_for(*scenario, problems);
  for (const char* name : {"cls_path", "factory"})
    if (const Value* spelling = recipe.find(name); spelling && spelling->is_string())
      if (const auto* library = catalog_->target_provider(spelling->as_string()))
        all = load(*library, problems) && all;
  for (const Value::Entry& entry : recipe.entries()) all = load_for_recipe(entry.value, problems) && all;
  return all;
}

void LibraryLoader::load_all(Diagnostics& problems) {
  for (const auto& library : catalog_->libraries()) {
    if (!library.usable()) continue;
    Diagnostics found;
    load(library, found);
    for (Diagnostic entry : found) {
      entry.severity = std::min(entry.severity, Severity::warning);
      problems.add(std::move(entry));
    }
  }
}

ScenarioSpec LibraryLoader::scenario(const std::string& name, const Value& parameters,
                                     Diagnostics& problems) {
  const auto* row = catalog_->scenario(name, problems);
  if (!row || !load(*row->library, problems)) return {};
  const auto* registered = registry_.find_scenario(name);
  const Value normalised = check_value(*registered->entry.parameters, parameters, {&registry_, {}}, problems);
  if (problems.has_errors()) return {};
  try {
    return registered->entry.make(normalised, LoadingContext(*this));
  } catch (const Error& failure) {
    problems.append(failure.diagnostics());
  } catch (const std::exception& failure) {
    problems.error("E407", fmt::format("the scenario {} failed: {}", name, failure.what()),
                   Where::in_library(row->library->origin.library, row->library->origin.path));
  }
  return {};
}

std::vector<const DeclaredLibrary*> libraries_needed(const Value& scenario, const Catalog& catalog) {
  std::set<const DeclaredLibrary*> needed;
  Diagnostics unreported;
  const RequiredComponents required = required_components(scenario, catalog);
  for (const Identity& identity : required.definitions) {
    if (const auto* library = catalog.provider(identity, {}, {}, unreported)) needed.insert(library);
  }
  for (const RequiredTarget& target : required.targets) {
    if (const auto* library = catalog.target_provider(target.spelling)) needed.insert(library);
  }
  std::vector<const DeclaredLibrary*> ordered;
  for (const auto& library : catalog.libraries())
    if (needed.contains(&library)) ordered.push_back(&library);
  return ordered;
}

}  // namespace nexuml
