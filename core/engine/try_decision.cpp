// Golden cases of decision rules and of the layers that are fitted after training.
#include <ATen/core/grad_mode.h>
#include <nexuml/evaluation.h>

#include "engine/case_layer.h"
#include "engine/try_case.h"

namespace nexuml {

void try_decision_rule(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  report.phase = CasePhase::define;
  const auto target =
      registry.make<TargetKind::decision_rule>(golden.text("factory"), Value::list(), case_arguments(golden));
  report.phase = CasePhase::build;
  const std::shared_ptr<DecisionRule> rule = target->build({});
  report.phase = CasePhase::fit;
  rule->fit(golden.tensors.at("fit.scores"));
  report.phase = CasePhase::forward;
  if (const Value* expected = golden.find("expected_threshold"))
    report.compare("threshold", rule->threshold(), expected->as_number());
  if (const at::Tensor* decisions = golden.tensor("out.decision"))
    report.compare("out.decision", rule->decide(golden.tensors.at("in.scores")).to(at::kLong), *decisions);
}

namespace {

void fit_case_layer(const GoldenCase& golden, PostTrainLayer& layer) {
  Batch all{.x = golden.tensors_of("fit.in."), .y = std::nullopt};
  if (TensorDict labels = golden.tensors_of("fit.label."); !labels.empty()) all.y = std::move(labels);
  layer.arm();
  std::int64_t first = 0;
  for (const std::int64_t count : golden.sizes("fit_batch_sizes")) {
    Batch batch = rows_of(all, first, count);
    layer.forward(batch);
    first += count;
  }
  layer.finish_fit();
}

}  // namespace

void try_post_train_layer(const GoldenCase& golden, const ComponentRegistry& registry, CaseReport& report) {
  const CaseLayer built = build_case_layer(golden, registry, report);
  auto* layer = dynamic_cast<PostTrainLayer*>(built.layer.get());
  if (!layer) return report.fail("the layer is not fitted after training");
  const at::NoGradGuard no_grad;
  report.phase = CasePhase::fit;
  fit_case_layer(golden, *layer);
  if (!layer->fitted()) report.fail("the layer is not fitted after its pass");
  report.phase = CasePhase::forward;
  Batch batch = case_batch(golden);
  layer->forward(batch);
  if (const Value* expected = golden.find("expected_threshold"))
    for (const auto& [name, tensor] : state_of(*layer))
      if (name.ends_with("threshold")) report.compare(name, tensor.item<double>(), expected->as_number());
  for (const auto& [key, expected] : golden.tensors_of("out.")) {
    const at::Tensor* output = batch.x.find(key);
    report.compare("out." + key, output ? *output : at::Tensor(), expected);
  }
}

}  // namespace nexuml
