// train: the story of one run.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nexuml/compile.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "checkpoint/checkpoint_writer.h"
#include "engine/engine_call.h"
#include "engine/interrupt.h"
#include "engine/prepared_data.h"
#include "engine/progress.h"
#include "engine/run_folder.h"
#include "engine/run_log.h"
#include "engine/run_loggers.h"
#include "engine/scenario_input.h"
#include "engine/training_run.h"
#include "track/report.h"
#include "train/checkpoint_hook.h"
#include "train/factories.h"
#include "train/intra_op_threads.h"
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

std::int64_t index_named(const std::filesystem::path& checkpoint) {
  const std::string name = checkpoint.filename();
  std::int64_t index = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (failure == std::errc{} && end == name.data() + name.size() && index >= 0) return index;
  throw Error("E764", fmt::format("'{}' is no index of a run's checkpoints", name),
              Where::in_file(checkpoint.string()),
              "name the run folder, or one of its checkpoints by its number");
}

// `--resume` names a run folder, whose latest checkpoint is meant, or one of its checkpoints.
std::optional<Resumed> find_resumed(const EngineCall& call) {
  const auto from = call.text("resume");
  if (!from) return std::nullopt;
  std::filesystem::path path = std::filesystem::absolute(*from).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.parent_path().filename() == "checkpoints" && std::filesystem::exists(path / "manifest.json"))
    return Resumed{RunFolder::open(path.parent_path().parent_path()), index_named(path),
                   load_checkpoint(path)};
  RunFolder folder = RunFolder::open(path);
  const auto index = folder.checkpoints().latest();
  if (!index)
    throw Error("E764", "the run has no checkpoint to resume from", Where::in_file(folder.path().string()));
  return Resumed{folder, *index, folder.checkpoints().load(*index)};
}

// The same number of threads gives the same bits.
void take_threads(const EngineCall& call, const RunFolder& folder) {
  const Value origin = folder.provenance();
  const Value* threads = origin.find("threads");
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

// What could not be written is told at once; training goes on.
void tell_failed_write(EngineCall& call, const Error& error, const char* hint) {
  for (Diagnostic problem : error.diagnostics()) {
    problem.severity = Severity::warning;
    problem.hint = hint;
    if (call.talks()) fmt::print(stderr, "{}\n", problem.to_text());
    call.diagnostics().add(std::move(problem));
  }
}

void tell_failed_save(EngineCall& call, const Error& error) {
  tell_failed_write(call, error, "training goes on; earlier checkpoints are intact");
}

std::shared_ptr<CheckpointHook> checkpoint_hook(EngineCall& call) {
  CheckpointHook::Options hook{.every_steps = call.integer("checkpoint_every_steps").value_or(0),
                               .every_epochs = call.integer("checkpoint_every_epochs").value_or(0),
                               .keep_last = call.integer("keep_checkpoints").value_or(0),
                               .keep_every = call.integer("keep_every").value_or(0),
                               .keep_best = call.integer("keep_best").value_or(0)};
  hook.metric = call.text("best_metric").value_or(hook.metric);
  hook.smaller_is_better = call.text("best_mode").value_or("min") == "min";
  hook.on_failure = [](const Error&) {};  // told where it is saved, for whoever asked for it
  if (hook.keep_best > 0 && hook.every_epochs == 0)
    throw Error("E881", "--keep-best compares the metrics of epochs", {}, "give --checkpoint-every-epochs N");
  const bool saves = hook.every_steps > 0 || hook.every_epochs > 0;
  return saves ? std::make_shared<CheckpointHook>(hook) : nullptr;
}

// Those of the scenario, then what the command line asks for, then what a person sees.
void add_callbacks(EngineCall& call, const ScenarioInput& input, const RunFolder& folder,
                   std::stop_token stop, const std::shared_ptr<CheckpointHook>& hook,
                   TrainingStrategy& strategy) {
  const std::string& optimizer = input.spec.training.optimizer.factory;
  ProgressStyle style;
  const CallbackBuildContext context{.run_folder = folder.path().string(),
                                     .seed = input.seed,
                                     .stop = std::move(stop),
                                     .optimizer = optimizer.substr(optimizer.find_last_of(".:") + 1),
                                     .scheduler_every_step = input.spec.training.scheduler_interval == "step",
                                     .progress = &style,
                                     .advice = &call.diagnostics()};
  for (NamedCallback& callback : build_callbacks(input.spec, input.registry, context))
    strategy.callbacks.push_back(std::move(callback));
  if (hook) strategy.callbacks.push_back({"checkpoints", hook});
  if (call.talks() && style.shown)
    strategy.callbacks.push_back(
        {"progress", std::make_shared<Progress>(input.spec.training.progress_bar_keys, std::move(style))});
}

// Tells in which epoch the loss ceased to be a number.
class FiniteWatch final : public Callback {
 public:
  explicit FiniteWatch(Diagnostics& advice) : advice_(advice) {}
  void epoch_end(TrainingView& view) override {
    if (told_) return;
    for (const auto& [name, value] : view.metrics()) {
      if (!name.ends_with("/loss") || std::isfinite(value)) continue;
      told_ = true;
      advice_
          .warning("W841", fmt::format("{} is {} from epoch {} on", name, metric_value(value).as_string(),
                                       view.epoch()))
          .hint = "look for numbers in the data that are not finite, or take a smaller training.lr";
      return;
    }
  }

 private:
  Diagnostics& advice_;
  bool told_ = false;
};

// Interrupted: what was reached is kept, nothing more is computed.
int keep_interrupted(EngineCall& call, const ScenarioInput& input, const RunFolder& folder,
                     const CheckpointStore& store, const TrainingRun& run, Value summary) {
  const std::int64_t index = store.save(run.checkpoint());
  summary.set("interrupted", true);
  folder.write_summary(summary);
  write_report(folder.path(), svg_diagram(run.pipeline(), input.spec));
  announce(call, folder, summary);
  call.diagnostics()
      .warning("W845", fmt::format("interrupted after step {}; checkpoint {} holds what was reached",
                                   summary.at("global_step").as_integer(), index))
      .hint = fmt::format("continue with: nexuml-run train --resume {}", folder.path().string());
  return 1;
}

int run_training(EngineCall& call, const ScenarioInput& input, const std::optional<Resumed>& resumed) {
  const Stopwatch watch;
  const Interrupt interrupt;
  const bool continues = resumed && !call.text("run_dir");
  const RunFolder folder = continues ? resumed->folder : RunFolder::plan(input, call.text("run_dir"));
  // In another folder the numbers go on, so that no index means two checkpoints.
  const CheckpointStore store(folder.checkpoints().folder(), resumed ? resumed->index + 1 : 0);
  TrainingRun run(input, open_data(input, call.diagnostics(), interrupt.token()), call.diagnostics(),
                  interrupt.token(), resumed ? FirstWeights::checkpoint : FirstWeights::scenario);
  TrainingStrategy& strategy = run.strategy();
  if (!call.integer("threads") && !resumed)
    at::set_num_threads(default_intra_op_threads(run.pipeline(), run.data().batch_size()));
  const auto log = std::make_shared<RunLog>(folder.path(), [&call](const Error& error) {
    tell_failed_write(call, error, "training goes on; the metrics are written when there is room");
  });
  strategy.callbacks.push_back({"run_log", log});
  strategy.callbacks.push_back({"finite_watch", std::make_shared<FiniteWatch>(call.diagnostics())});
  RunLoggers loggers(input, folder.path(), run.pipeline());
  if (loggers.callback()) strategy.callbacks.push_back({"loggers", loggers.callback()});
  const std::shared_ptr<CheckpointHook> hook = checkpoint_hook(call);
  add_callbacks(call, input, folder, interrupt.token(), hook, strategy);
  if (resumed) run.resume(resumed->checkpoint);
  if (resumed && hook) hook->continue_from(continues ? std::optional(resumed->index) : std::nullopt);
  if (input.spec.training.max_epochs > 0) check_batch_of_one(run.pipeline(), run.data(), strategy.device);
  TrainerOptions options = run.trainer_options();
  options.step_recorded = [&](std::int64_t step, const OrderedMap<double>& values) {
    log->step_recorded(step, values);
    loggers.step_recorded(step, values);
  };
  std::optional<CheckpointWriter> writer;
  options.next_checkpoint = [&] { return writer ? writer->next() : store.next(); };
  options.save_checkpoint = [&] {
    try {
      if (!call.flag("async_checkpoints")) return store.save(run.checkpoint());
      if (!writer) writer.emplace(store);
      return writer->submit(run.checkpoint());
    } catch (const Error& error) {
      tell_failed_save(call, error);
      throw;
    }
  };
  const auto finish_writing = [&] {
    try {
      if (writer) writer->finish();
    } catch (const Error& error) {
      tell_failed_save(call, error);
    }
  };
  options.remove_checkpoint = [&](std::int64_t index) {
    if (writer)
      writer->remove(index);
    else
      store.remove(index);
  };
  Trainer trainer(strategy, run.data(), std::move(options));

  // Every mistake that can be found is found: from here on the run leaves something behind.
  const std::vector<std::string> changes =
      resumed ? resumed->folder.tell_changes(call, input) : std::vector<std::string>();
  if (continues) {
    folder.record_resume(input, resumed->index, changes);
    log->continue_from(strategy.counters.epoch, strategy.counters.global_step);
  } else {
    folder.begin(call, input);
  }
  loggers.begin(call.diagnostics());
  if (call.talks()) fmt::print(stderr, "{}", loggers.how_to_look());
  trainer.fit();
  finish_writing();
  Value summary = summary_of(input, strategy);
  take_over(summary, log->last_epoch());
  for (const NamedCallback& entry : strategy.callbacks) take_over(summary, entry.callback->results());
  if (trainer.stopped()) {
    summary.set("stopped", trainer.stop_reason());
    if (call.talks()) fmt::print(stderr, "stopped: {}\n", trainer.stop_reason());
  }
  summary.set("seconds", watch.seconds());
  if (interrupt.token().stop_requested())
    return keep_interrupted(call, input, folder, store, run, std::move(summary));
  if (!run.data().rows(Split::val).empty()) take_over(summary, trainer.validate());
  trainer.fit_post_train_layers();
  store.save(run.checkpoint());
  take_over(summary, run.test(trainer, folder.path()));
  summary.set("seconds", watch.seconds());
  folder.write_summary(summary);
  write_report(folder.path(), svg_diagram(run.pipeline(), input.spec));
  loggers.finish(summary, strategy.counters.global_step);
  announce(call, folder, summary);
  return call.diagnostics().has_errors() ? 1 : 0;  // an evaluation failed, the rest is there
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
