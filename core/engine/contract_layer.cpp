// What a layer owes: on a small input it infers, builds and runs, gives what it inferred, and the same
// numbers for two thread counts.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <nexuml/layer.h>
#include <torch/types.h>

#include "engine/case_layer.h"
#include "engine/contract.h"
#include "engine/sample_spec.h"
#include "runtime/seeded_random.h"

namespace nexuml {
namespace {

constexpr std::int64_t trial_batch = 4, trial_classes = 3;
constexpr std::uint64_t trial_seed = 20;

// One way to ask a layer.
struct Trial {
  std::vector<TensorSpec> inputs;
  std::size_t outputs = 1;
  bool label = false;
};

std::string words_of(const Trial& trial) {
  std::string text;
  for (const auto& input : trial.inputs) text += (text.empty() ? "" : " and ") + to_string(input);
  return text + (trial.label ? " with a label" : "");
}

// Shapes without the batch, from what most layers take to what few do.
std::vector<Trial> trials() {
  const std::vector<Shape> shapes{{8},       {4, 8},   {3, 16, 16}, {1, 16, 16},  {1, 64},
                                  {1, 1024}, {16, 64}, {1, 64, 64}, {2, 4, 8, 8}, {}};
  std::vector<Trial> all;
  for (const bool label : {false, true}) {
    for (const auto& shape : shapes) {
      for (const DType dtype : {DType::float32, DType::int64}) {
        if (dtype == DType::int64 && shape.size() > 1) continue;
        for (const std::size_t inputs : {1u, 2u, 3u})
          for (const std::size_t outputs : {1u, 2u, 3u, 0u})
            all.push_back({std::vector<TensorSpec>(inputs, {shape, dtype}), outputs, label});
      }
    }
  }
  return all;
}

LayerBuildContext context_of(const Trial& trial, const ComponentRegistry& registry) {
  LayerBuildContext context;
  context.layer = "Trial/00_layer";
  for (std::size_t index = 0; index < trial.inputs.size(); ++index) {
    context.keys_in.push_back(fmt::format("in{}", index));
    context.inputs[context.keys_in.back()] = trial.inputs[index];
  }
  context.input_names = context.keys_in;
  for (std::size_t index = 0; index < trial.outputs; ++index)
    context.keys_out.push_back(fmt::format("out{}", index));
  if (trial.label) {
    context.label_keys = {"label"};
    context.labels["label"] = {.shape = {}, .dtype = DType::int64};
    context.num_classes = trial_classes;
  }
  context.targets = &registry;
  context.storage = std::make_shared<SharedStorage>();
  return context;
}

Batch batch_of(const Trial& trial) {
  const SeededRandom random(trial_seed);
  Batch batch;
  for (std::size_t index = 0; index < trial.inputs.size(); ++index) {
    std::vector<std::int64_t> sizes{trial_batch};
    sizes.insert(sizes.end(), trial.inputs[index].shape.begin(), trial.inputs[index].shape.end());
    batch.x.set(fmt::format("in{}", index), trial.inputs[index].dtype == DType::int64
                                                ? at::randint(trial_classes, sizes, at::kLong)
                                                : at::randn(sizes));
  }
  if (trial.label) batch.y = TensorDict{{"label", at::arange(trial_batch).remainder(trial_classes)}};
  return batch;
}

struct Outcome {
  Shapes inferred;
  bool infers = false;
  bool fitted_later = false;
  OrderedMap<at::Tensor> state;
  TensorDict outputs;
};

// How far a trial came before the layer refused.
enum class Reached { nothing, infer, build };

Outcome run_trial(const AnyLayer& definition, const Trial& trial, const ComponentRegistry& registry,
                  int threads, Reached& reached) {
  const int before = at::get_num_threads();
  struct Restore {
    int threads;
    ~Restore() { at::set_num_threads(threads); }
  } restore{before};
  at::set_num_threads(threads);
  const at::NoGradGuard no_grad;
  const LayerBuildContext context = context_of(trial, registry);
  Outcome outcome;
  reached = Reached::nothing;
  if (auto inferred = definition->infer(context)) {
    outcome.inferred = std::move(*inferred);
    outcome.infers = true;
    reached = Reached::infer;
  }
  const SeededRandom random(trial_seed);
  const auto layer = definition->build(context);
  reached = Reached::build;
  if (!layer) throw Error("E822", "build returned no layer");
  for (const auto& [name, tensor] : state_of(*layer)) outcome.state.append(name, tensor.detach().clone());
  layer->eval();
  if (auto* fitted_later = dynamic_cast<PostTrainLayer*>(layer.get())) {
    outcome.fitted_later = true;
    fitted_later->arm();
    Batch training = batch_of(trial);
    layer->forward(training);
    fitted_later->finish_fit();
  }
  Batch batch = batch_of(trial);
  layer->forward(batch);
  for (const std::string& key : context.keys_out)
    if (const at::Tensor* output = batch.x.find(key)) outcome.outputs.set(key, *output);
  return outcome;
}

std::string differences_to_inferred(const Outcome& outcome) {
  for (const auto& [key, spec] : outcome.inferred.outputs) {
    const at::Tensor* output = outcome.outputs.find(key);
    if (!output) return fmt::format("it inferred {} and did not write it", key);
    const TensorSpec real = spec_of_sample(*output);
    if (!keeps(spec, real))
      return fmt::format("{} was inferred as {}, it is {}", key, to_string(spec), to_string(real));
  }
  return {};
}

// The struct tells before a layer is built whether it is fitted after training.
std::string check_flag(const AnyLayer& definition, const Outcome& outcome) {
  if (outcome.fitted_later && !definition->post_train_fit())
    return "it builds a PostTrainLayer: say `static constexpr bool post_train_fit = true;` in the struct";
  if (!outcome.fitted_later && definition->post_train_fit())
    return "it says post_train_fit and builds a layer that is no PostTrainLayer";
  return {};
}

std::string differences_between(const Outcome& one, const Outcome& two) {
  for (const auto& [name, tensor] : one.state) {
    const at::Tensor* other = two.state.find(name);
    if (!other || !at::equal(tensor, *other))
      return fmt::format(
          "built twice from one seed, {} differs: it must draw from LibTorch's default generator", name);
  }
  for (const auto& [key, tensor] : one.outputs) {
    const at::Tensor* other = two.outputs.find(key);
    if (!other || other->sizes() != tensor.sizes() ||
        !at::allclose(tensor.to(at::kDouble), other->to(at::kDouble), 1e-4, 1e-5, true))
      return fmt::format("{} differs between one thread and two", key);
  }
  return {};
}

}  // namespace

void check_layer_contract(const Definition& raw, const ComponentRegistry& registry, ContractReport& report) {
  const AnyLayer definition(raw);
  std::string first_refusal, failed_after_infer;
  for (const Trial& trial : trials()) {
    Reached reached = Reached::nothing;
    Outcome outcome;
    try {
      outcome = run_trial(definition, trial, registry, 1, reached);
      if (outcome.outputs.empty() && trial.outputs > 0) throw Error("E824", "it wrote none of its outputs");
    } catch (...) {
      const std::string words = fmt::format("{}: {}", words_of(trial), words_of_exception());
      if (first_refusal.empty()) first_refusal = words;
      if (reached != Reached::nothing && failed_after_infer.empty()) failed_after_infer = words;
      continue;
    }
    report.add({fmt::format("infers, builds and runs on {}", words_of(trial))});
    if (outcome.infers)
      report.check("gives what it inferred", [&] { return differences_to_inferred(outcome); });
    else
      report.skip("gives what it inferred", "it has no infer");
    report.check("says when it is fitted", [&] { return check_flag(definition, outcome); });
    report.check("gives the same on one thread and on two", [&] {
      return differences_between(outcome, run_trial(definition, trial, registry, 2, reached));
    });
    return;
  }
  const std::string name = "infers, builds and runs on a small input";
  if (!failed_after_infer.empty())
    report.add({name, CheckStatus::failed, "it took no input that was tried; " + failed_after_infer});
  else
    report.skip(name, "it took no input that was tried; the first: " + first_refusal +
                          "; record a golden case of it");
}

}  // namespace nexuml
