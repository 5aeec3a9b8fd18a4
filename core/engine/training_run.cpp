#include "engine/training_run.h"

#include <fmt/format.h>
#include <nexuml/compile.h>

#include "checkpoint/weights.h"
#include "engine/run_folder.h"
#include "train/device.h"
#include "train/random_streams.h"
#include "train/scenario_parts.h"
#include "train/strategy_checkpoint.h"

namespace nexuml {

std::int64_t batch_size_of(const ScenarioSpec& spec) {
  if (spec.data.loader.batch_size) return *spec.data.loader.batch_size;
  return std::get<std::int64_t>(spec.training.batch_size);  // "auto" was refused as not carried out
}

TrainingRun::TrainingRun(const ScenarioInput& input, std::unique_ptr<DataModule> data, Diagnostics& advice,
                         std::stop_token stop, FirstWeights first)
    : input_(input), advice_(advice), stop_(std::move(stop)), data_(std::move(data)) {
  const ScenarioSpec& spec = input_.spec;
  const at::Device device = choose_device(spec.training);
  choose_precision(spec.training);
  CompileOptions options{.registry = input_.registry, .seed = input_.seed, .stop = stop_, .advice = &advice_};
  pipeline_ = compile(CompileInput(spec, &input_.document, data_->declaration()), options);
  if (first == FirstWeights::scenario && spec.checkpoint && spec.checkpoint->source) load_source_weights();
  pipeline_->to(device);
  batches_ = data_->make_loader(Split::train)->num_batches();
  strategy_ = scenario_strategy(spec, pipeline_, input_.registry, batches_);
  strategy_.device = device;
  seed_random_streams(input_.seed, device);
}

// A file, a checkpoint folder, or a run folder, whose latest checkpoint is meant.
std::filesystem::path TrainingRun::find_weights(const std::string& source) const {
  const std::filesystem::path path = input_.scenario_folder / source;
  if (!std::filesystem::is_directory(path)) return path;
  if (std::filesystem::exists(path / "model.safetensors")) return path / "model.safetensors";
  const CheckpointStore store(path / "checkpoints");
  if (const auto latest = store.latest()) return store.path_of(*latest) / "model.safetensors";
  throw Error("E761", "the folder holds no weights: neither model.safetensors nor checkpoints",
              Where::in_file(path.string()));
}

void TrainingRun::load_source_weights() {
  const CheckpointLoadSpec& rules = *input_.spec.checkpoint;
  const std::filesystem::path path = find_weights(*rules.source);
  const LoadReport report = load_weights(*pipeline_, read_weights(path.string()), rules, path.string());
  std::string message = fmt::format("{} tensors loaded", report.matched.size());
  for (const auto& [what, names] : {std::pair("missing", &report.missing),
                                    {"unexpected", &report.unexpected},
                                    {"excluded", &report.excluded},
                                    {"of another shape", &report.shape_mismatched},
                                    {"converted", &report.converted}})
    if (!names->empty()) message += fmt::format(", {} {}", names->size(), what);
  if (!report.unwrapped.empty()) message += fmt::format("; taken out: {}", fmt::join(report.unwrapped, ", "));
  advice_.note("W765", message, Where::in_file(path.string()));
}

TrainerOptions TrainingRun::trainer_options() const {
  const TrainingSpec& training = input_.spec.training;
  return {.loss_keys = training.loss_keys,
          .metric_keys = training.metric_keys,
          .max_epochs = training.max_epochs,
          .scheduler_every_step = training.scheduler_interval == "step",
          .precision = choose_precision(training),
          .stop = stop_};
}

TrainingKind TrainingRun::kind() const {
  const auto name_of = [&](const std::string& factory) {
    const auto* target = input_.registry.find_target(factory);
    return target ? target->entry.node->path : factory;
  };
  const TrainingSpec& training = input_.spec.training;
  return {name_of(training.optimizer.factory), name_of(training.scheduler.factory), data_->batch_size(),
          batches_};
}

const Value& TrainingRun::recipe() const {
  if (recipe_.is_null())
    recipe_ = strategy_.checkpoint_spec_dict(resumed_recipe_.is_null() ? nullptr : &resumed_recipe_);
  return recipe_;
}

Checkpoint TrainingRun::checkpoint() const {
  Value about =
      Value::map({{"scenario", input_.spec.name}, {"seed", static_cast<std::int64_t>(input_.seed)}});
  kind().note_in(about);
  return checkpoint_of(strategy_, recipe(), std::move(about));
}

void TrainingRun::resume(const Checkpoint& checkpoint) {
  note_other_libraries(checkpoint.about, input_.registry, advice_);
  const ResumedState resumed = resumed_state(checkpoint, strategy_, kind(), advice_);
  strategy_.restore(resumed.state);
  resumed_recipe_ = checkpoint.recipe;
  Scheduler& scheduler = strategy_.scheduler();
  if (scheduler.monitor()) return;  // steps by what it is told, and starts to watch anew
  for (std::int64_t step = 0; step < resumed.scheduler_steps; ++step) scheduler.step();
}

void TrainingRun::load_model(const Checkpoint& checkpoint) {
  load_state_dict(*pipeline_, checkpoint.model);
}

OrderedMap<double> TrainingRun::test(Trainer& trainer, const std::filesystem::path& run_folder) {
  const Dataset& dataset = data_->dataset();
  if (data_->rows(Split::test).empty()) {
    advice_.warning("W839", "no test: the data has no test rows").hint =
        "give data.test_split a share, or assign rows to the split `test`";
    return {};
  }
  EvaluationRun evaluation(input_.spec.evaluation,
                           {.num_classes = dataset.num_classes(),
                            .class_names = dataset.class_names(),
                            .run_folder = run_folder,
                            .seed = input_.seed,
                            .stop = stop_,
                            .targets = &input_.registry},
                           input_.registry);
  evaluation.measure(input_.spec);
  seed_random_streams(input_.seed, strategy_.device);
  OrderedMap<double> numbers = trainer.test(&evaluation);
  advice_.append(input_.located(evaluation.failures()));
  return numbers;
}

}  // namespace nexuml
