#include "compile/build.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "compile/dry_pass.h"
#include "compile/task_graph.h"
#include "runtime/layer_failure.h"
#include "runtime/seeded_random.h"
#include "runtime/worker_arena.h"

namespace nexuml {
namespace {

// The spec of a key when its writer is built.
std::optional<TensorSpec> known_spec(const BuildJob& job, const std::string& key, int writer) {
  if (auto spec = job.graph.spec_of(key, writer)) return spec;
  if (writer < 0) return std::nullopt;
  const TensorSpec* spec = job.shapes[static_cast<std::size_t>(writer)].outputs.find(key);
  return spec ? std::optional(*spec) : std::nullopt;
}

[[noreturn]] void fail_for_unknown_input(const GraphLayer& layer, std::size_t input) {
  const std::string& key = layer.keys_in[input];
  throw Error("E822", fmt::format("the shape of the input '{}' is not known", key),
              layer.place["keys_in"].where(layer.path),
              layer.sources[input] == from_data
                  ? fmt::format("declare it: data.input_shapes.{}", key)
                  : std::string("the layer that writes it made nothing of zeros"));
}

OrderedMap<Value> published_by(const GraphLayer& layer, const PipelineLayer& runtime, const Shapes& shapes) {
  OrderedMap<Value> published;
  if (!layer.spec->meta_out) return published;
  OrderedMap<Value> told = shapes.attributes;
  for (auto& [name, value] : runtime.attributes()) told[name] = value;
  for (const auto& [attribute, key] : *layer.spec->meta_out) {
    const auto value = attribute_of(layer, attribute, told);
    if (!value)
      throw Error("E805", fmt::format("meta_out publishes '{}', which the layer does not have", attribute),
                  layer.place["meta_out"].key(attribute).where(layer.path));
    published[key] = *value;
  }
  return published;
}

// What a failure inside LibTorch rarely says: that an input is not of the dtype that weights have.
std::string dtype_hint(const BuildJob& job, const GraphLayer& layer) {
  for (std::size_t i = 0; i < layer.keys_in.size(); ++i)
    if (const auto spec = known_spec(job, layer.keys_in[i], layer.sources[i]);
        spec && spec->dtype != DType::float32)
      return fmt::format(
          "its input '{}' is {}, most layers compute with float32: convert the data, for example by `scale: "
          "1` of the data source",
          layer.keys_in[i], to_string(spec->dtype));
  return {};
}

class ParallelBuild {
 public:
  ParallelBuild(std::vector<BuildJob>& jobs, const CompileOptions& options, SpanLog& log,
                Diagnostics& problems)
      : options_(options), log_(log), problems_(problems) {
    for (BuildJob& job : jobs)
      for (std::size_t i = 0; i < job.graph.layers.size(); ++i) tasks_.push_back({&job, i});
  }

  void run() {
    TaskGraph graph(tasks_.size());
    for (std::size_t task = 0; task < tasks_.size(); ++task) add_dependencies(graph, task);
    // Tasks run isolated: while a layer waits inside oneTBB, its thread must not begin another one within
    // its random scope.
    WorkerArena arena(options_.threads);
    arena.execute([&] {
      graph.run([this](std::size_t task) { return build(*tasks_[task].job, tasks_[task].index); },
                options_.stop);
    });
    if (options_.stop.stop_requested() && !problems_.has_errors())
      problems_.error("E826", "the build was stopped before it ended");
  }

 private:
  struct BuildTask {
    BuildJob* job;
    std::size_t index;
  };

  // What a layer waits for: the writers of inputs and labels whose specs are not inferred, and publishers of
  // metadata that only the built layer tells.
  void add_dependencies(TaskGraph& graph, std::size_t task) const {
    const BuildJob& job = *tasks_[task].job;
    const std::size_t first = task - tasks_[task].index;
    const GraphLayer& layer = job.graph.layers[tasks_[task].index];
    const auto needs = [&](int other) {
      if (other >= 0) graph.add_dependency(task, first + static_cast<std::size_t>(other));
    };
    for (std::size_t i = 0; i < layer.keys_in.size(); ++i)
      if (!job.graph.spec_of(layer.keys_in[i], layer.sources[i])) needs(layer.sources[i]);
    for (std::size_t i = 0; i < layer.label_sources.size(); ++i)
      if (!job.graph.spec_of(layer.label_keys[i], layer.label_sources[i])) needs(layer.label_sources[i]);
    std::size_t i = 0;
    if (layer.spec->meta_in)
      for (const auto& [name, key] : *layer.spec->meta_in) {
        const int publisher = layer.metadata_sources[i++];
        if (!layer.metadata.contains(name)) needs(publisher);
      }
  }

  bool build(BuildJob& job, std::size_t index) {
    const GraphLayer& layer = job.graph.layers[index];
    try {
      build_and_publish(job, index, layer);
      return true;
    } catch (...) {
      report(layer, failure_of(layer.path, "E822", "while it was built"), dtype_hint(job, layer));
      return false;
    }
  }

  void build_and_publish(BuildJob& job, std::size_t index, const GraphLayer& layer) {
    const LayerBuildContext context = build_context(job, layer, options_);
    std::optional<Shapes> inferred = layer.shapes;
    if (!inferred && layer.can_infer) inferred = layer.spec->component->infer(context);
    {
      const SpanLog::Scope span(log_, layer.path, "build", job.input.scenario.name);
      job.layers[index] = build_layer(layer, context, options_.seed);
    }
    PipelineLayer& runtime = *job.layers[index];
    if (!inferred || options_.verify) {
      const SpanLog::Scope span(log_, layer.path, inferred ? "verify" : "try", job.input.scenario.name);
      if (inferred)
        verify_layer(runtime, context, *inferred);
      else
        inferred = Shapes{.outputs = try_layer(runtime, context), .attributes = {}};
    }
    job.shapes[index] = *std::move(inferred);
    job.published[index] = published_by(layer, runtime, job.shapes[index]);
  }

  void report(const GraphLayer& layer, const Diagnostics& found, const std::string& hint) {
    const std::lock_guard lock(problems_mutex_);
    for (Diagnostic problem : found) {
      const bool placed = !problem.where.file.empty() || !problem.where.key_path.empty();
      if (!placed) problem.where = layer.place["component"].where(layer.path);
      if (!hint.empty() && (problem.code == "E822" || problem.code == "E827")) problem.hint = hint;
      problems_.add(std::move(problem));
    }
  }

  const CompileOptions& options_;
  SpanLog& log_;
  Diagnostics& problems_;
  std::mutex problems_mutex_;
  std::vector<BuildTask> tasks_;
};

}  // namespace

SpanLog::Scope::Scope(SpanLog& log, std::string name, std::string category, std::string scenario)
    : log_(log) {
  if (!log_.spans_) return;
  span_ = {std::move(name), std::move(category), std::move(scenario)};
  start_ = std::chrono::steady_clock::now();
}

SpanLog::Scope::~Scope() {
  if (!log_.spans_) return;
  span_.start = start_ - log_.origin_;
  span_.duration = std::chrono::steady_clock::now() - start_;
  span_.thread = std::max(0, tbb::this_task_arena::current_thread_index());
  const std::lock_guard lock(log_.mutex_);
  log_.spans_->push_back(std::move(span_));
}

BuildJob::BuildJob(const CompileInput& input_, Graph graph_)
    : input(input_),
      graph(std::move(graph_)),
      layers(graph.layers.size()),
      shapes(graph.layers.size()),
      published(graph.layers.size()) {}

void build_layers(std::vector<BuildJob>& jobs, const CompileOptions& options, SpanLog& log,
                  Diagnostics& problems) {
  ParallelBuild(jobs, options, log, problems).run();
}

LayerBuildContext build_context(const BuildJob& job, const GraphLayer& layer, const CompileOptions& options) {
  LayerBuildContext context;
  // What the graph knows; what only the built sources tell is added.
  static_cast<LayerInferContext&>(context) = infer_context(job.graph, layer, options);
  for (std::size_t i = 0; i < layer.keys_in.size(); ++i) {
    if (context.inputs.contains(layer.keys_in[i])) continue;
    const auto spec = known_spec(job, layer.keys_in[i], layer.sources[i]);
    if (!spec) fail_for_unknown_input(layer, i);
    context.inputs.append(layer.keys_in[i], *spec);
  }
  for (std::size_t i = 0; i < layer.label_sources.size(); ++i)
    if (const auto spec = known_spec(job, layer.label_keys[i], layer.label_sources[i]))
      context.labels[layer.label_keys[i]] = *spec;
  std::size_t i = 0;
  if (layer.spec->meta_in)
    for (const auto& [name, key] : *layer.spec->meta_in) {
      const auto& published = job.published[static_cast<std::size_t>(layer.metadata_sources[i++])];
      if (!context.metadata.contains(name)) context.metadata[name] = published.at(key);
    }
  context.storage = job.storage;
  context.delay_epochs = layer.spec->delay_epochs;
  context.update_every_n_epochs = layer.spec->update_every_n_epochs;
  context.stop = options.stop;
  return context;
}

std::shared_ptr<PipelineLayer> build_layer(const GraphLayer& layer, const LayerBuildContext& context,
                                           std::uint64_t seed) {
  const at::AutoGradMode with_gradients(true);
  const SeededRandom random(layer_seed(seed, layer.stage, layer.name));
  auto runtime = layer.spec->component->build(context);
  if (!runtime) throw Error("E822", "build returned no layer", layer.place["component"].where(layer.path));
  return runtime;
}

}  // namespace nexuml
