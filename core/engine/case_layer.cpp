#include "engine/case_layer.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/try_case.h"

namespace nexuml {

namespace {

Shape shape_from(const Value& sizes) {
  Shape shape;
  if (sizes.is_list())
    for (const Value& size : sizes.items())
      shape.push_back(size.is_integer() ? size.as_integer() : unknown_size);
  return shape;
}

void set_inputs(const GoldenCase& golden, LayerInferContext& context) {
  if (const Value* keys = golden.find("keys_in"); keys && keys->is_map())
    for (const auto& entry : keys->entries()) {
      context.input_names.push_back(entry.key);
      context.keys_in.push_back(entry.value.is_string() ? entry.value.as_string() : std::string());
    }
  else
    context.keys_in = context.input_names = golden.texts("keys_in");
  const Value* sizes = golden.find("input_sizes");
  if (!sizes || !sizes->is_map()) return;
  for (const auto& entry : sizes->entries()) {
    TensorSpec spec{.shape = shape_from(entry.value)};
    if (const at::Tensor* input = golden.tensor("in." + entry.key))
      spec.dtype = dtype_of(input->scalar_type());
    context.inputs[entry.key] = spec;
  }
}

void set_labels(const GoldenCase& golden, LayerInferContext& context) {
  context.label_keys = golden.texts("label_key");
  const Value* in_x = golden.find("label_in_x");
  context.label_in_x = in_x && in_x->is_boolean() && in_x->as_boolean();
  const std::string prefix = context.label_in_x ? "in." : "label.";
  for (const std::string& key : context.label_keys)
    if (const at::Tensor* label = golden.tensor(prefix + key))
      context.labels[key] = {.shape = Shape(label->sizes().begin() + 1, label->sizes().end()),
                             .dtype = dtype_of(label->scalar_type())};
}

LayerBuildContext context_of(const GoldenCase& golden, const ComponentRegistry& registry) {
  LayerBuildContext context;
  context.layer = golden.name;
  set_inputs(golden, context);
  context.keys_out = golden.texts("keys_out");
  set_labels(golden, context);
  if (const Value* classes = golden.find("num_classes"); classes && classes->is_integer())
    context.num_classes = classes->as_integer();
  if (const Value* metadata = golden.find("metadata"); metadata && metadata->is_map())
    for (const auto& entry : metadata->entries()) context.metadata[entry.key] = entry.value;
  context.targets = &registry;
  context.storage = std::make_shared<SharedStorage>();
  return context;
}

// The numbers of cases whose weights are too many to be stored.
at::Tensor formula_values(const std::string& name, const at::Tensor& like) {
  const at::Tensor i = at::arange(1, like.numel() + 1, at::kDouble);
  at::Tensor values = at::zeros_like(i);
  if (like.dim() >= 2)
    values = 2 / std::sqrt(static_cast<double>(like.numel() / like.size(0))) * (1.618 * i).sin();
  else if (name.ends_with("running_var"))
    values = at::ones_like(i);
  else if (name.ends_with("weight"))
    values = 1 + 0.1 * i.sin();
  else if (!name.ends_with("running_mean") && !name.ends_with("num_batches_tracked"))
    values = 0.05 * i.cos();
  return values.to(like.scalar_type()).view(like.sizes());
}

void compare_names(const GoldenCase& golden, const OrderedMap<at::Tensor>& state, CaseReport& report) {
  const Value* names = golden.find("state_names");
  if (!names || !names->is_list()) return;
  for (const Value& entry : names->items()) {
    const std::string& name = entry.items().at(0).as_string();
    const at::Tensor* found = state.find(name);
    if (!found)
      report.fail("the state has no " + name);
    else if (const Shape sizes(found->sizes().begin(), found->sizes().end());
             sizes != shape_from(entry.items().at(1)))
      report.fail(fmt::format("{} has shape {}, expected {}", name, to_string(sizes),
                              to_string(shape_from(entry.items().at(1)))));
  }
  if (state.size() > names->size())
    report.fail(fmt::format("the state has {} tensors, expected {}", state.size(), names->size()));
}

}  // namespace

OrderedMap<at::Tensor> state_of(const torch::nn::Module& module) {
  OrderedMap<at::Tensor> state;
  for (const auto& entry : module.named_parameters()) state.append(entry.key(), entry.value());
  for (const auto& entry : module.named_buffers()) state.append(entry.key(), entry.value());
  return state;
}

CaseLayer build_case_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const AnyLayer definition =
      case_definition(golden.document.at("component"), ComponentKind::layer, registry);
  report.phase = CasePhase::build;
  const LayerBuildContext context = context_of(golden, registry);
  CaseLayer built;
  built.inferred = definition->infer(context).value_or(Shapes{});
  built.params = definition.params(&registry);
  built.layer = definition->build(context);
  const Value* mode = golden.find("mode");
  built.layer->train(mode && *mode == Value("train"));
  return built;
}

void load_case_state(const GoldenCase& golden, PipelineLayer& layer, CaseReport& report) {
  const at::NoGradGuard no_grad;
  OrderedMap<at::Tensor> state = state_of(layer);
  compare_names(golden, state, report);
  if (golden.find("state_formula"))
    for (auto& [name, tensor] : state) tensor.copy_(formula_values(name, tensor));
  for (const auto& [name, value] : golden.tensors_of("state.")) {
    at::Tensor* found = state.find(name);
    if (!found || found->sizes() != value.sizes())
      report.fail("the state has no " + name + " of the shape of the case");
    else
      found->copy_(value);
  }
}

Batch case_batch(const GoldenCase& golden) {
  Batch batch{.x = golden.tensors_of("in."), .y = std::nullopt};
  const Value* absent = golden.find("labels_absent");
  const TensorDict labels = golden.tensors_of("label.");
  if (!labels.empty() && !(absent && *absent == Value(true))) batch.y = labels;
  return batch;
}

Batch rows_of(const Batch& batch, std::int64_t first, std::int64_t count) {
  const auto slice = [&](const TensorDict& tensors) {
    TensorDict rows;
    for (const auto& [key, value] : tensors) rows.set(key, value.narrow(0, first, count));
    return rows;
  };
  Batch rows{.x = slice(batch.x), .y = std::nullopt};
  if (batch.y) rows.y = slice(*batch.y);
  return rows;
}

}  // namespace nexuml
