// The loggers that a scenario names, beside the run folder: TensorBoard events and the pipeline's drawing.
//
//     RunLoggers loggers(input, folder.path(), pipeline, advice);
//     strategy.callbacks.push_back({"loggers", loggers.callback()});
//     ...
//     loggers.finish(summary, step);          // after the report is written
#pragma once

#include <nexuml/ordered_map.h>
#include <nexuml/pipeline.h>
#include <nexuml/training.h>
#include <nexuml/value.h>

#include <filesystem>
#include <memory>
#include <string>

#include "engine/scenario_input.h"
#include "track/event_file.h"

namespace nexuml {

class RunLoggers {
 public:
  // Opens nothing. Relative folders of the scenario are meant from NEXUML_LOGS_ROOT, else from the run
  // folder.
  RunLoggers(const ScenarioInput& input, std::filesystem::path run_folder, const CompiledPipeline& pipeline);

  // Draws the pipeline and opens the event file, with the scenario and where it comes from in `artifacts`
  // beside it; what cannot be written is a warning, the run goes on.
  void begin(Diagnostics& advice);
  // How to look at what is logged, a line each; empty where nothing is.
  std::string how_to_look() const;
  // Null where the scenario names no TensorBoard: scalars of each epoch and histograms of the weights.
  std::shared_ptr<Callback> callback() const;
  // What callbacks recorded of a step.
  void step_recorded(std::int64_t step, const OrderedMap<double>& values);
  // Numbers of the test, plots and texts; the report and the files of the evaluation go to `artifacts`.
  void finish(const Value& summary, std::int64_t step);

 private:
  class TensorBoardLog;
  std::filesystem::path base() const;
  std::filesystem::path event_folder() const;
  void draw(Diagnostics& advice) const;
  void copy_results(const std::filesystem::path& artifacts) const;

  const ScenarioInput& input_;
  const std::filesystem::path run_folder_;
  const CompiledPipeline& pipeline_;
  std::shared_ptr<TensorBoardLog> log_;
};

}  // namespace nexuml
