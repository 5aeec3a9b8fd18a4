#include "compile/dry_pass.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/layer_failure.h"

namespace nexuml {
namespace {

constexpr std::int64_t dry_batch = 2;
// Two sizes for a dimension that only data tells; large enough for usual kernels and strides.
constexpr std::int64_t unknown_sizes[] = {64, 96};
// Every dry pass draws from the same stream: what it draws is dropped.
constexpr std::uint64_t dry_seed = 0;

TensorSpec spec_of(const at::Tensor& tensor) {
  TensorSpec spec{.dtype = dtype_of(tensor.scalar_type())};
  if (tensor.dim() > 0) spec.shape.assign(tensor.sizes().begin() + 1, tensor.sizes().end());
  return spec;
}

bool has_unknown(const OrderedMap<TensorSpec>& specs) {
  for (const auto& [key, spec] : specs)
    if (element_count(spec.shape) == unknown_size) return true;
  return false;
}

void fill(TensorDict& dict, const OrderedMap<TensorSpec>& specs, std::int64_t unknown) {
  for (const auto& [key, spec] : specs) dict.set(key, zeros_of(spec, unknown));
}

Batch zero_batch(const LayerInferContext& context, std::int64_t unknown) {
  Batch batch;
  fill(batch.x, context.inputs, unknown);
  if (context.label_in_x) {
    fill(batch.x, context.labels, unknown);
  } else if (!context.label_keys.empty() && context.labels.size() == context.label_keys.size()) {
    batch.y.emplace();
    fill(*batch.y, context.labels, unknown);
  }
  return batch;
}

OrderedMap<TensorSpec> made_of_zeros(PipelineLayer& layer, const LayerInferContext& context,
                                     std::int64_t unknown) {
  Batch batch = zero_batch(context, unknown);
  layer.forward(batch);
  OrderedMap<TensorSpec> made;
  for (const std::string& key : layer.keys_out())
    if (const at::Tensor* tensor = batch.x.find(key)) made[key] = spec_of(*tensor);
  return made;
}

// What two passes agree on.
TensorSpec common(TensorSpec first, const TensorSpec& second) {
  for (std::size_t i = 0; i < first.shape.size() && i < second.shape.size(); ++i)
    if (first.shape[i] != second.shape[i]) first.shape[i] = unknown_size;
  return first;
}

bool fits(const TensorSpec& inferred, const at::Tensor& tensor) {
  if (scalar_type(inferred.dtype) != tensor.scalar_type()) return false;
  // A loss of one number stands for the whole batch.
  if (tensor.dim() == 0) return inferred.shape.empty();
  if (tensor.dim() != static_cast<std::int64_t>(inferred.shape.size()) + 1) return false;
  for (std::size_t i = 0; i < inferred.shape.size(); ++i)
    if (inferred.shape[i] != unknown_size &&
        inferred.shape[i] != tensor.size(static_cast<std::int64_t>(i) + 1))
      return false;
  return true;
}

class Verification {
 public:
  Verification(const Graph& graph, Diagnostics& problems) : graph_(graph), problems_(problems) {
    for (const auto& [key, spec] : graph.data.features)
      if (spec) batch_.x.set(key, zeros_of(*spec, unknown_sizes[0]));
    for (const auto& [key, spec] : graph.data.labels)
      if (spec) labels_.set(key, zeros_of(*spec, unknown_sizes[0]));
  }

  void visit(const GraphLayer& layer, PipelineLayer& runtime, const Shapes& shapes) {
    if (labels_known(layer)) {
      run(layer, runtime);
      for (const std::string& key : layer.spec->keys_out) compare(layer, key, shapes);
    }
    // Later layers see what was inferred where this one wrote nothing or the wrong thing.
    for (const auto& [key, spec] : shapes.outputs)
      if (const at::Tensor* made = batch_.x.find(key); !made || !fits(spec, *made))
        batch_.x.set(key, zeros_of(spec, unknown_sizes[0]));
  }

 private:
  bool labels_known(const GraphLayer& layer) const {
    for (const std::string& key : layer.label_keys)
      if (!(layer.spec->label_in_x ? batch_.x : labels_).contains(key)) return false;
    return true;
  }

  void run(const GraphLayer& layer, PipelineLayer& runtime) {
    const UntouchedLayer untouched(runtime);
    for (const std::string& key : layer.spec->keys_out)
      if (std::find(layer.keys_in.begin(), layer.keys_in.end(), key) == layer.keys_in.end())
        batch_.x.erase(key);
    batch_.y = labels_.empty() ? std::nullopt : std::optional(labels_);
    try {
      runtime.forward(batch_);
    } catch (...) {
      for (Diagnostic problem : failure_of(layer.path, "E825", "on a batch of zeros")) {
        if (problem.where.key_path.empty()) problem.where = layer.place["component"].where(layer.path);
        problems_.add(std::move(problem));
      }
    }
  }

  void compare(const GraphLayer& layer, const std::string& key, const Shapes& shapes) {
    const TensorSpec* inferred = shapes.outputs.find(key);
    const at::Tensor* made = batch_.x.find(key);
    if (problems_.has_errors() || !inferred || (made && fits(*inferred, *made))) return;
    if (!made && layer.spec->component->post_train_fit()) return;  // it adds nothing before it is fitted
    if (!made && made_nothing(layer)) return;  // metrics are made in validation and test only
    problems_
        .error("E827",
               fmt::format("the layer inferred {} for '{}' and made {}", to_string(*inferred), key,
                           made ? to_string(spec_of(*made)) : "nothing"),
               layer.place["component"].where(layer.path))
        .hint = "the component's infer and forward disagree: tell its author";
  }

  bool made_nothing(const GraphLayer& layer) const {
    return std::ranges::none_of(layer.spec->keys_out,
                                [&](const std::string& key) { return batch_.x.contains(key); });
  }

  const Graph& graph_;
  Diagnostics& problems_;
  Batch batch_;
  TensorDict labels_;
};

}  // namespace

UntouchedLayer::UntouchedLayer(PipelineLayer& layer) {
  for (const auto& module : layer.modules()) training_.emplace_back(module, module->is_training());
  for (const at::Tensor& buffer : layer.buffers())
    if (buffer.defined()) buffers_.emplace_back(buffer, buffer.detach().clone());
  layer.eval();
}

UntouchedLayer::~UntouchedLayer() {
  const at::NoGradGuard no_grad;
  for (const auto& [buffer, before] : buffers_)
    if (!at::equal(buffer, before)) buffer.copy_(before);
  // Parents come before their children, and train() reaches down.
  for (const auto& [module, training] : training_) module->train(training);
}

at::Tensor zeros_of(const TensorSpec& spec, std::int64_t unknown) {
  std::vector<std::int64_t> sizes{dry_batch};
  for (const std::int64_t size : spec.shape) sizes.push_back(size == unknown_size ? unknown : size);
  return at::zeros(sizes, at::TensorOptions().dtype(scalar_type(spec.dtype)));
}

OrderedMap<TensorSpec> try_layer(PipelineLayer& layer, const LayerInferContext& context) {
  const at::NoGradGuard no_grad;
  const SeededRandom random(dry_seed);
  const UntouchedLayer untouched(layer);
  OrderedMap<TensorSpec> made = made_of_zeros(layer, context, unknown_sizes[0]);
  if (!has_unknown(context.inputs)) return made;
  const OrderedMap<TensorSpec> again = made_of_zeros(layer, context, unknown_sizes[1]);
  for (auto& [key, spec] : made)
    if (const TensorSpec* other = again.find(key)) spec = common(spec, *other);
  return made;
}

void verify_shapes(const Graph& graph, const std::vector<std::shared_ptr<PipelineLayer>>& layers,
                   const std::vector<Shapes>& shapes, const SharedStorage& storage, Diagnostics& problems) {
  const at::NoGradGuard no_grad;
  const SeededRandom random(dry_seed);
  const StorageScratch scratch(storage);
  Verification verification(graph, problems);
  for (std::size_t i = 0; i < layers.size() && !problems.has_errors(); ++i)
    verification.visit(graph.layers[i], *layers[i], shapes[i]);
}

}  // namespace nexuml
