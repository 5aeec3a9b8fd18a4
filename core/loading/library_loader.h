// LibraryLoader: opens the libraries that a run needs, and no others.
//
//     LibraryLoader loader(discover(options, environment), environment);
//     if (!loader.load_for(document, problems)) return 1;       // the libraries of every component and
//     target in it ComponentRegistry registry = loader.registry();
//
// LibTorch and the runtime are opened first, by path. Each library is staged, compared with its manifest, and
// committed whole or not at all; one that fails leaves nothing behind. [one thread: the one that loads
// libraries]
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/registry.h>
#include <nexuml/value.h>

#include <boost/dll/shared_library.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "discovery/search.h"
#include "registry/catalog.h"

namespace nexuml {

class LibraryLoader {
 public:
  LibraryLoader(std::shared_ptr<const Catalog> catalog, Environment environment);

  const Catalog& catalog() const noexcept { return *catalog_; }
  const Environment& environment() const noexcept { return environment_; }
  // What was committed so far; a value that later loading does not change.
  const ComponentRegistry& registry() const noexcept { return registry_; }

  // Each returns false after an error was reported. Loading again is free.
  bool open_runtime(Diagnostics& problems);  // LibTorch, libnexuml-runtime
  bool load(const DeclaredLibrary& library, Diagnostics& problems);
  // The providers of every component and target that a checked scenario names. Names that nobody declares
  // are passed over: checking reported them.
  bool load_for(const Value& scenario, Diagnostics& problems);
  bool load_for(const Identity& identity, Diagnostics& problems);
  // The providers of every target that a checked recipe names, at any depth, and of a pipeline's scenario.
  bool load_for_recipe(const Value& recipe, Diagnostics& problems);
  // Every usable library; those that fail are warnings.
  void load_all(Diagnostics& problems);

  // Runs a scenario that is registered from code, loading the libraries whose components it asks for.
  ScenarioSpec scenario(const std::string& name, const Value& parameters, Diagnostics& problems);

  // A shared object of this product, which lies beside libnexuml-core. Nothing after E886 or E402.
  std::optional<boost::dll::shared_library> open_own(const char* name, Diagnostics& problems) const;

 private:
  bool open_and_commit(const DeclaredLibrary& library, const Where& where, Diagnostics& problems);

  std::shared_ptr<const Catalog> catalog_;
  Environment environment_;
  ComponentRegistry registry_;
  std::set<const DeclaredLibrary*> loaded_, failed_;
  std::vector<const DeclaredLibrary*> with_operators_;  // opened, and registered operators with LibTorch
  bool runtime_opened_ = false;
};

// The libraries that a checked scenario needs, in the catalog's order.
std::vector<const DeclaredLibrary*> libraries_needed(const Value& scenario, const Catalog& catalog);

}  // namespace nexuml
