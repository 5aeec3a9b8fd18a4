// A scenario as a command works with it: checked, typed, with the libraries it needs loaded.
#pragma once

#include <nexuml/registry.h>
#include <nexuml/scenario.h>
#include <nexuml/value.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/engine_call.h"
#include "scenario/not_carried_out.h"

namespace nexuml {

struct ScenarioInput {
  std::string source;  // as it was named
  Value document;      // with every default, and where each part was read
  ScenarioSpec spec;
  ComponentRegistry registry;
  std::filesystem::path scenario_folder;  // of its file; the working folder for a scenario from code
  std::filesystem::path data_root;        // NEXUML_DATA_ROOT, else the folder
  std::uint64_t seed = 0;                 // --seed, else training.seed, else 0

  // Fills in where in the document a problem's key path was read.
  Diagnostics located(const Diagnostics& problems) const;
};

// Throws Error with everything that is wrong; advice goes to the call's diagnostics. `--max-epochs` counts as
// an override. Blocks that `work` needs and this version does not carry out are reported.
ScenarioInput open_scenario_input(EngineCall& call, const std::string& source, ScenarioWork work);

// The root for relative data paths: NEXUML_DATA_ROOT, else `folder`.
std::filesystem::path data_root_or(const std::filesystem::path& folder);

// Runs `work` and lets its errors leave with their places in the document.
template <class Work>
auto with_places(const ScenarioInput& input, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    throw Error(input.located(error.diagnostics()));
  }
}

}  // namespace nexuml
