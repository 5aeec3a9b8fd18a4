// train: the story of one run.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nexuml/compile.h>

#include <chrono>
#include <optional>

#include "engine/engine_call.h"
#include "engine/interrupt.h"
#include "engine/progress.h"
#include "engine/run_folder.h"
#include "engine/run_log.h"
#include "engine/scenario_input.h"
#include "engine/training_run.h"
#include "track/report.h"
#include "train/last_batch.h"
#include "train/trainer.h"

namespace nexuml {

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void take_over(Value& summary, const OrderedMap<double>& metrics) {
  for (const auto& [name, value] : metrics) summary.set(name, metric_value(value));
}

Value summary_of(const ScenarioInput& input, const TrainingStrategy& strategy) {
  return Value::map({{"scenario", input.spec.name},
                     {"epochs", strategy.counters.epoch},
                     {"global_step", strategy.counters.global_step},
                     {"seed", static_cast<std::int64_t>(input.seed)},
                     {"threads", at::get_num_threads()}});
}

void announce(EngineCall& call, const RunFolder& folder, const Value& summary) {
  std::string text;
  for (const auto& entry : summary.entries())
    if (entry.key.starts_with("test/") || entry.key.starts_with("eval/"))
      text += fmt::format(
          "{}: {}\n", entry.key,
          entry.value.is_string() ? entry.value.as_string() : fmt::format("{:.6g}", entry.value.as_number()));
  call.print(text + fmt::format("run folder: {}\n", folder.path().string()));
  call.answer().set("run_folder", folder.path().string());
  call.answer().set("summary", summary);
}

// A run that is continued: where it stands, and what the scenario says now.
struct Resumed {
  RunFolder folder;
  std::int64_t index;
  Checkpoint checkpoint;
};

std::optional<Resumed> find_resumed(const EngineCall& call) {
  const auto from = call.text("resume");
  if (!from) return std::nullopt;
  RunFolder folder = RunFolder::open(*from);
  const auto index = folder.checkpoints().latest();
  if (!index)
    throw Error("E764", "the run has no checkpoint to resume from", Where::in_file(folder.path().string()));
  return Resumed{folder, *index, folder.checkpoints().load(*index)};
}

// The same number of threads gives the same bits.
void take_threads(const EngineCall& call, const RunFolder& folder) {
  const Value* threads = folder.provenance().find("threads");
  if (!threads || !threads->is_integer()) return;
  const std::int64_t recorded = threads->as_integer();
  if (!call.integer("threads"))
    at::set_num_threads(static_cast<int>(recorded));
  else if (*call.integer("threads") != recorded)
    call.diagnostics().warning("W764",
                               fmt::format("the run was started with {} threads: with {} its numbers differ "
                                           "in the last bits",
                                           recorded, *call.integer("threads")));
}

int run_training(EngineCall& call, const ScenarioInput& input, const std::optional<Resumed>& resumed) {
  const Stopwatch watch;
  const Interrupt interrupt;
  TrainingRun run(input, open_data(input, call.diagnostics(), interrupt.token()), call.diagnostics(),
                  interrupt.token());
  TrainingStrategy& strategy = run.strategy();
  if (resumed) run.resume(resumed->checkpoint);
  if (input.spec.training.max_epochs > 0) check_batch_of_one(run.pipeline(), run.data(), strategy.device);

  TrainerOptions options = run.trainer_options();
  std::optional<CheckpointStore> store;
  options.save_checkpoint = [&] { return store->save(run.checkpoint()); };
  Trainer trainer(strategy, run.data(), std::move(options));

  const bool continues = resumed && !call.text("run_dir");
  const RunFolder folder = continues ? resumed->folder : RunFolder::create(call, input, call.text("run_dir"));
  store = folder.checkpoints();
  auto log = std::make_shared<RunLog>(folder.metrics_file());
  if (continues) {
    folder.record_resume(call, input, resumed->index);
    log->continue_from(strategy.counters.epoch);
  }
  strategy.callbacks.push_back({"run_log", log});
  if (call.talks())
    strategy.callbacks.push_back(
        {"progress", std::make_shared<Progress>(input.spec.training.progress_bar_keys)});

  trainer.fit();
  Value summary = summary_of(input, strategy);
  take_over(summary, log->last_epoch());
  if (trainer.stopped() && interrupt.token().stop_requested()) {
    const std::int64_t index = store->save(run.checkpoint());
    summary.set("interrupted", true);
    summary.set("seconds", watch.seconds());
    folder.write_summary(summary);
    announce(call, folder, summary);
    call.diagnostics()
        .warning("W845", fmt::format("interrupted after step {}; checkpoint {} holds what was reached",
                                     strategy.counters.global_step, index))
        .hint = fmt::format("continue with: nexuml-run train --resume {}", folder.path().string());
    return 1;
  }
  if (!run.data().rows(Split::val).empty()) take_over(summary, trainer.validate());
  trainer.fit_post_train_layers();
  store->save(run.checkpoint());
  take_over(summary, run.test(trainer, folder.path()));
  summary.set("seconds", watch.seconds());
  folder.write_summary(summary);
  write_report(folder.path(), svg_diagram(run.pipeline(), input.spec));
  announce(call, folder, summary);
  return 0;
}

}  // namespace

int train(EngineCall& call) {
  const std::optional<Resumed> resumed = find_resumed(call);
  std::vector<std::string> sources = call.texts("scenarios");
  if (sources.empty() && resumed) sources.push_back(resumed->folder.scenario_file().string());
  if (sources.size() != 1)
    throw Error("E881", fmt::format("train takes one scenario, {} were given", sources.size()));
  if (resumed) take_threads(call, resumed->folder);
  ScenarioInput input = open_scenario_input(call, sources.front(), ScenarioWork::train);
  if (resumed) resumed->folder.adopt_origin(input, call);
  return with_places(input, [&] { return run_training(call, input, resumed); });
}

}  // namespace nexuml
