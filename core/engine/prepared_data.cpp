#include "engine/prepared_data.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <nexuml/compile.h>
#include <nexuml/data.h>

#include <cctype>
#include <cstdlib>

#include "data/data_fingerprint.h"
#include "data/export_run.h"
#include "data/exported_dataset.h"
#include "data/guard.h"
#include "engine/training_run.h"
#include "tensor_io/sha256.h"
#include "train/device.h"

namespace nexuml {

namespace {

namespace fs = std::filesystem;

DataModuleOptions module_options(const ScenarioInput& input, std::stop_token stop) {
  return {.registry = &input.registry,
          .data_root = input.data_root,
          .seed = input.seed,
          .pin_memory = !choose_device(input.spec.training).is_cpu(),
          .stop = std::move(stop)};
}

// As the scenario, before anything was prepared.
ScenarioSpec raw_scenario(const ScenarioSpec& spec) {
  ScenarioSpec raw = spec;
  raw.data.preprocessing = {};
  raw.data.skip_pipeline_stages.clear();
  raw.data.loader.backend = {};
  raw.data.loader.weighted_sampling = false;
  return raw;
}

bool needs_pipeline(const PreprocessingSpec& spec) {
  return !spec.until_x_keys.empty() || !spec.until_y_keys.empty();
}

fs::path prepared_folder(const ScenarioInput& input) {
  const PreprocessingSpec& spec = input.spec.data.preprocessing;
  const char* root = std::getenv("NEXUML_LOGS_ROOT");
  const fs::path base = root && *root ? fs::path(root) : fs::current_path();
  if (spec.path) return base / *spec.path;
  const std::string& factory = spec.writer.factory;
  const std::string writer = factory.substr(factory.find_last_of(".:") + 1);
  return base / ".experiments" / "preprocessed" / input.spec.name / spec.target_view / writer;
}

// Everything beside the data itself that decides what is written.
std::string recipe_digest(const ScenarioInput& input) {
  const PreprocessingSpec& spec = input.spec.data.preprocessing;
  ScenarioSpec raw = raw_scenario(input.spec);
  raw.data.loader = {};
  Value recipe = Value::map({{"data", write(raw.data, &input.registry)},
                             {"preprocessing", write(spec, &input.registry)},
                             {"seed", static_cast<std::int64_t>(input.seed)}});
  recipe.find("preprocessing")->set("path", Value());
  recipe.find("preprocessing")->set("overwrite", false);
  if (needs_pipeline(spec)) recipe.set("pipeline", write(raw.pipeline, &input.registry));
  return tensor_io::sha256_hex(write_json(recipe));
}

struct Preparation {
  const ScenarioInput& input;
  Diagnostics& advice;
  std::stop_token stop;
  fs::path folder;

  bool is_there() const { return fs::exists(folder / "config.yaml"); }
  Value earlier() const {
    if (!is_there()) return Value::map();
    try {
      return read_export_config(folder).extra;
    } catch (const Error&) {
      return Value::map();  // it is written anew
    }
  }

  void write_data(const DataModule& raw, Value extra) const {
    const PreprocessingSpec& spec = input.spec.data.preprocessing;
    ExportRun run{.folder = folder,
                  .x_keys = spec.x_keys,
                  .y_keys = spec.y_keys,
                  .include_labels = spec.include_labels,
                  .label_prefix = spec.label_prefix,
                  .extra = std::move(extra),
                  .stop = stop};
    const auto writer =
        input.registry.make<TargetKind::writer>(spec.writer.factory, spec.writer.args, spec.writer.kwargs);
    run.writer = [&writer](const WriterBuildContext& context) { return writer->build(context); };
    std::shared_ptr<CompiledPipeline> pipeline;
    if (needs_pipeline(spec)) {
      const ScenarioSpec scenario = raw_scenario(input.spec);
      pipeline = compile(CompileInput(scenario, &input.document, raw.declaration()),
                         {.registry = input.registry, .seed = input.seed, .stop = stop, .advice = &advice});
      pipeline->eval();
      pipeline->call_layer_hook(Hook::predict_start);
      run.transform = [&pipeline, &spec](Batch& batch) {
        const at::AutoGradMode no_grad(false);
        pipeline->forward_until(batch, spec.until_x_keys, spec.until_y_keys);
      };
    }
    export_data(raw, run);
  }
};

}  // namespace

std::unique_ptr<DataModule> open_data(const ScenarioInput& input, Diagnostics& advice, std::stop_token stop) {
  const DataSpec& data = input.spec.data;
  if (!data.preprocessing.enabled)
    return std::make_unique<DataModule>(data, batch_size_of(input.spec), module_options(input, stop), advice);

  const Preparation preparation{input, advice, stop, prepared_folder(input)};
  const ScenarioSpec raw_spec = raw_scenario(input.spec);
  const DataModule raw(raw_spec.data, batch_size_of(input.spec), module_options(input, stop), advice);
  const Value earlier = preparation.earlier();
  const Value* known = earlier.find("source_files");
  DataFingerprint fingerprint = fingerprint_of(raw.dataset(), known ? *known : Value(), stop);
  const std::string key = tensor_io::sha256_hex(recipe_digest(input) + fingerprint.digest);
  const Value* earlier_key = earlier.find("content_key");
  if (data.preprocessing.overwrite || !earlier_key || *earlier_key != Value(key)) {
    if (preparation.is_there() && !data.preprocessing.overwrite)
      advice.note("W838", "the prepared data is made again: its source, the scenario or the seed changed",
                  Where::in_file(preparation.folder.string()));
    preparation.write_data(
        raw, Value::map({{"content_key", key}, {"source_files", std::move(fingerprint.files)}}));
  }
  auto dataset = std::make_shared<const ExportedDataset>(preparation.folder);
  Splits splits = dataset->split_rows();
  return std::make_unique<DataModule>(data, batch_size_of(input.spec), std::move(dataset), std::move(splits),
                                      module_options(input, stop));
}

}  // namespace nexuml
