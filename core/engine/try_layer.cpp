// Golden cases of layers: one batch through a layer, or the batches of a phase through a metric layer.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <limits>

#include "engine/case_layer.h"
#include "engine/sample_spec.h"
#include "engine/try_case.h"

namespace nexuml {

namespace {

// Gradients of the sum over outputs of their means, as cases record them.
void compare_gradients(const GoldenCase& golden, const Batch& inputs, const Batch& outputs,
                       const PipelineLayer& layer, CaseReport& report) {
  const TensorDict input_gradients = golden.tensors_of("grad_in.");
  const TensorDict parameter_gradients = golden.tensors_of("grad_param.");
  if (input_gradients.empty() && parameter_gradients.empty()) return;
  at::Tensor total = at::zeros({});
  for (const std::string& key : layer.keys_out())
    if (const at::Tensor* output = outputs.x.find(key)) total = total + output->mean();
  total.backward();
  for (const auto& [key, expected] : input_gradients)
    report.compare("grad_in." + key, inputs.x.get(key).grad(), expected);
  const auto parameters = layer.named_parameters();
  for (const auto& [name, expected] : parameter_gradients) {
    const at::Tensor* parameter = parameters.find(name);
    report.compare("grad_param." + name, parameter ? parameter->grad() : at::Tensor(), expected);
  }
}

// Attributes that meta_out may publish: the layer's own, what was inferred, the fields.
void compare_attributes(const GoldenCase& golden, const CaseLayer& built, CaseReport& report) {
  const Value* expected = golden.find("expected_attributes");
  if (!expected) return;
  const OrderedMap<Value> own = built.layer->attributes();
  for (const auto& entry : expected->entries()) {
    const Value* found = own.find(entry.key);
    if (!found) found = built.inferred.attributes.find(entry.key);
    if (!found) found = built.params.find(entry.key);
    if (found)
      report.compare("attribute " + entry.key, *found, entry.value);
    else
      report.fail("the layer publishes no " + entry.key);
  }
}

void compare_outputs(const GoldenCase& golden, const CaseLayer& built, const Batch& batch,
                     CaseReport& report) {
  for (const auto& [key, expected] : golden.tensors_of("out.")) {
    const at::Tensor* output = batch.x.find(key);
    report.compare("out." + key, output ? *output : at::Tensor(), expected);
    const TensorSpec* inferred = built.inferred.outputs.find(key);
    if (!output || !inferred) continue;
    if (const TensorSpec found = spec_of_sample(*output); !keeps(*inferred, found))
      report.fail(
          fmt::format("{} was inferred as {}, it is {}", key, to_string(*inferred), to_string(found)));
  }
  for (const std::string& key : golden.texts("outputs_absent"))
    if (batch.x.contains(key)) report.fail("the layer wrote " + key + ", which the case leaves absent");
}

void require_gradients(const GoldenCase& golden, Batch& batch) {
  for (const auto& [key, gradient] : golden.tensors_of("grad_in."))
    batch.x.set(key, batch.x.get(key).clone().requires_grad_());
}

}  // namespace

void try_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  const CaseLayer built = build_case_layer(golden, registry, report);
  load_case_state(golden, *built.layer, report);
  report.phase = CasePhase::forward;
  Batch inputs = case_batch(golden);
  require_gradients(golden, inputs);
  if (built.layer->is_training()) built.layer->set_mode(Mode::training);
  if (const Value* seed = golden.find("rng_seed"); seed && seed->is_integer())
    torch::manual_seed(static_cast<std::uint64_t>(seed->as_integer()));
  Batch outputs = inputs;
  built.layer->forward(outputs);
  compare_outputs(golden, built, outputs, report);
  compare_attributes(golden, built, report);
  const OrderedMap<at::Tensor> state = state_of(*built.layer);
  for (const auto& [name, expected] : golden.tensors_of("state_after.")) {
    const at::Tensor* found = state.find(name);
    report.compare("state_after." + name, found ? *found : at::Tensor(), expected);
  }
  compare_gradients(golden, inputs, outputs, *built.layer, report);
}

// The phase runs twice: what the second run gives must not depend on the first.
void try_metric_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  const CaseLayer built = build_case_layer(golden, registry, report);
  load_case_state(golden, *built.layer, report);
  report.phase = CasePhase::forward;
  const at::NoGradGuard no_grad;
  const bool test = golden.text("phase", "val") == "test";
  const Mode mode = test ? Mode::testing : Mode::validating;
  const Batch all = case_batch(golden);
  OrderedMap<std::vector<at::Tensor>> outputs;
  OrderedMap<double> epoch;
  for (int run = 0; run < 2; ++run) {
    outputs.clear();
    built.layer->call(test ? Hook::test_start : Hook::validation_start);
    built.layer->call(test ? Hook::test_epoch_start : Hook::validation_epoch_start);
    std::int64_t first = 0;
    for (const std::int64_t count : golden.sizes("batch_sizes")) {
      Batch batch = rows_of(all, first, count);
      built.layer->forward(batch);
      for (const std::string& key : golden.texts("keys_out"))
        if (const at::Tensor* output = batch.x.find(key)) outputs[key].push_back(*output);
      first += count;
    }
    epoch = built.layer->epoch_metrics(mode);
    built.layer->call(test ? Hook::test_epoch_end : Hook::validation_epoch_end);
    built.layer->call(test ? Hook::test_end : Hook::validation_end);
  }
  for (const auto& [key, expected] : golden.tensors_of("out.")) {
    const std::vector<at::Tensor>* parts = outputs.find(key);
    report.compare("out." + key, parts ? at::cat(*parts) : at::Tensor(), expected);
  }
  if (const Value* expected = golden.find("expected_epoch_metrics"))
    for (const auto& entry : expected->entries()) {
      const double* found = epoch.find(entry.key);
      if (!found)
        report.fail("the epoch has no " + entry.key);
      else
        report.compare(
            "epoch " + entry.key, *found,
            entry.value.is_number() ? entry.value.as_number() : std::numeric_limits<double>::quiet_NaN());
    }
}

}  // namespace nexuml
