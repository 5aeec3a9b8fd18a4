// The loggers that a scenario names, beside the run folder: TensorBoard events and the pipeline's drawing.
//
//     RunLoggers loggers(input, folder.path(), pipeline, advice);
//     strategy.callbacks.push_back({"loggers", loggers.callback()});
//     ...
//     loggers.finish(summary, folder.path());         // numbers of the test, plots, the scenario
#pragma once

#include <nexuml/pipeline.h>
#include <nexuml/training.h>
#include <nexuml/value.h>

#include <filesystem>
#include <memory>

#include "engine/scenario_input.h"
#include "track/event_file.h"

namespace nexuml {

class RunLoggers {
 public:
  // Opens nothing. Relative folders of the scenario are meant from NEXUML_LOGS_ROOT, else from the run
  // folder.
  RunLoggers(const ScenarioInput& input, std::filesystem::path run_folder, const CompiledPipeline& pipeline);

  // Draws the pipeline and opens the event file; what cannot be written is a warning, the run goes on.
  void begin(Diagnostics& advice);
  // Null where the scenario names no TensorBoard: scalars of each epoch and histograms of the weights.
  std::shared_ptr<Callback> callback() const;
  void finish(const Value& summary, std::int64_t step, Diagnostics& advice);

 private:
  class TensorBoardLog;
  std::filesystem::path base() const;
  std::filesystem::path event_folder() const;
  void draw(Diagnostics& advice) const;

  const ScenarioInput& input_;
  const std::filesystem::path run_folder_;
  const CompiledPipeline& pipeline_;
  std::shared_ptr<TensorBoardLog> log_;
};

}  // namespace nexuml
