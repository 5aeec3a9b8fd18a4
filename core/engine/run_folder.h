// The folder that a run leaves behind.
//
//     runs/<scenario>/<UTC time>/
//       scenario.yaml      with every default and override
//       provenance.json    libraries, command, seed: written before the first step
//       metrics.csv        a row an epoch
//       steps.csv          a row a step of which callbacks recorded something
//       checkpoints/<index>/
//       summary.json       flat numbers, written at the end
#pragma once

#include <nexuml/ordered_map.h>
#include <nexuml/value.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "engine/scenario_input.h"

namespace nexuml {

class RunFolder {
 public:
  // Where a run will lie: `wanted`, else runs/<scenario>/<UTC time>. Throws Error E887 when it holds
  // something; makes nothing.
  static RunFolder plan(const ScenarioInput& input, const std::optional<std::string>& wanted);
  // Makes the folder with scenario.yaml and provenance.json. Throws Error E887.
  void begin(const EngineCall& call, const ScenarioInput& input) const;
  // Throws Error E888 when there is no run in it.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path scenario_file() const { return path_ / "scenario.yaml"; }
  CheckpointStore checkpoints() const { return CheckpointStore(path_ / "checkpoints"); }
  Value provenance() const;
  // Where the run read its data, with which seed: for a scenario that was read from this folder.
  // NEXUML_DATA_ROOT and --seed come first.
  void adopt_origin(ScenarioInput& input, const EngineCall& call) const;
  // Notes in the diagnostics what a continuation of this run does differently.
  std::vector<std::string> tell_changes(const EngineCall& call, const ScenarioInput& input) const;
  // And in the folder, where it goes on there.
  void record_resume(const ScenarioInput& input, std::int64_t index,
                     const std::vector<std::string>& changes) const;
  void write_summary(const Value& summary) const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// A number of summary.json; text where JSON has no such number.
Value metric_value(double value);

}  // namespace nexuml
