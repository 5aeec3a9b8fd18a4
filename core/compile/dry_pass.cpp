#include "compile/dry_pass.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "runtime/seeded_random.h"
#include "runtime/storage_scratch.h"

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

at::Tensor zeros_of(const TensorSpec& spec, std::int64_t unknown) {
  std::vector<std::int64_t> sizes{dry_batch};
  for (const std::int64_t size : spec.shape) sizes.push_back(size == unknown_size ? unknown : size);
  return at::zeros(sizes, at::TensorOptions().dtype(scalar_type(spec.dtype)));
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

TensorDict made_of_zeros(PipelineLayer& layer, const LayerInferContext& context, std::int64_t unknown) {
  Batch batch = zero_batch(context, unknown);
  layer.forward(batch);
  TensorDict made;
  for (const std::string& key : layer.keys_out())
    if (const at::Tensor* tensor = batch.x.find(key)) made.set(key, *tensor);
  return made;
}

OrderedMap<TensorSpec> specs_of(const TensorDict& tensors) {
  OrderedMap<TensorSpec> specs;
  for (const auto& [key, tensor] : tensors) specs[key] = spec_of(tensor);
  return specs;
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

// What a pass over a layer must not change, besides the layer itself.
class DryPass {
 public:
  DryPass(PipelineLayer& layer, const LayerBuildContext& context)
      : random_(dry_seed), scratch_(*context.storage), untouched_(layer) {}

 private:
  at::NoGradGuard no_grad_;
  SeededRandom random_;
  StorageScratch scratch_;
  UntouchedLayer untouched_;
};

bool labels_known(const LayerInferContext& context) {
  return context.labels.size() == context.label_keys.size();
}

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

OrderedMap<TensorSpec> try_layer(PipelineLayer& layer, const LayerBuildContext& context) {
  const DryPass pass(layer, context);
  OrderedMap<TensorSpec> made = specs_of(made_of_zeros(layer, context, unknown_sizes[0]));
  if (!has_unknown(context.inputs)) return made;
  const OrderedMap<TensorSpec> again = specs_of(made_of_zeros(layer, context, unknown_sizes[1]));
  for (auto& [key, spec] : made)
    if (const TensorSpec* other = again.find(key)) spec = common(spec, *other);
  return made;
}

void verify_layer(PipelineLayer& layer, const LayerBuildContext& context, const Shapes& inferred) {
  // Sizes that only data tells were guessed here: a failure would say nothing about the layer.
  if (!labels_known(context) || has_unknown(context.inputs)) return;
  const DryPass pass(layer, context);
  const TensorDict made = made_of_zeros(layer, context, unknown_sizes[0]);
  if (made.empty())
    return;  // metrics are made in validation and test only, a fit adds nothing before it is done
  for (const auto& [key, spec] : inferred.outputs) {
    const at::Tensor* tensor = made.find(key);
    if (tensor && fits(spec, *tensor)) continue;
    throw Error("E827",
                fmt::format("the layer inferred {} for '{}' and made {}", to_string(spec), key,
                            tensor ? to_string(spec_of(*tensor)) : "nothing"),
                Where::in_layer(context.layer),
                "the component's infer and forward disagree: tell its author");
  }
}

}  // namespace nexuml
