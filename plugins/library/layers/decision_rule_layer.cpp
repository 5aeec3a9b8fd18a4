#include "layers/decision_rule_layer.h"

#include <nexuml/evaluation.h>
#include <nexuml/layer.h>

#include <limits>
#include <utility>
#include <vector>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class DecisionRuleRuntime final : public nexuml::PostTrainLayer {
 public:
  DecisionRuleRuntime(const nexuml::LayerBuildContext& context, const DecisionRuleLayer& definition,
                      std::shared_ptr<nexuml::DecisionRule> rule)
      : PostTrainLayer(context), definition_(definition), rule_(std::move(rule)) {
    auto holder = register_module("rule", std::make_shared<torch::nn::Module>());
    const nexuml::Value unfitted = rule_->state();
    for (const auto& entry : unfitted.entries()) {
      if (!entry.value.is_null() && !entry.value.is_number())
        context.fail("the state of decision rule '" + definition.rule.factory + "' has to be numbers; '" +
                     entry.key + "' is " + nexuml::describe_for_message(entry.value));
      const double value =
          entry.value.is_null() ? std::numeric_limits<double>::quiet_NaN() : entry.value.as_number();
      state_.emplace_back(entry.key, holder->register_buffer(entry.key, at::full({}, value, at::kDouble)));
    }
  }

  void collect_batch(const nexuml::Batch& batch) override {
    const at::Tensor scores = input(batch).detach().to(at::kCPU, at::kFloat).flatten();
    collected_.push_back(scores.index({normal_rows(batch, scores.size(0))}));
  }

  void finalize_fit() override {
    rule_->fit(collected_.empty() ? at::empty({0}) : at::cat(collected_));
    collected_.clear();
    const at::NoGradGuard no_grad;
    const nexuml::Value state = rule_->state();
    for (auto& [name, buffer] : state_) buffer.fill_(state.at(name).as_number());
  }

  void transform(nexuml::Batch& batch) override {
    rule_->load_state(stored_state());
    set_output(batch, rule_->decide(input(batch)).to(at::kLong));
  }

 private:
  // Weights may have been loaded since the last batch.
  nexuml::Value stored_state() const {
    nexuml::Value state = nexuml::Value::map();
    for (const auto& [name, buffer] : state_) state.set(name, buffer.item<double>());
    return state;
  }

  // The rows that the rule is fitted on: [batch], boolean.
  at::Tensor normal_rows(const nexuml::Batch& batch, std::int64_t count) const {
    at::Tensor rows = at::ones({count}, at::kBool);
    if (definition_.fit_mask_key) rows.logical_and_(column(batch, *definition_.fit_mask_key) != 0);
    if (definition_.fit_label_key) {
      const double normal =
          std::visit([](auto value) { return static_cast<double>(value); }, definition_.normal_label_value);
      rows.logical_and_(column(batch, *definition_.fit_label_key).to(at::kDouble) == normal);
    }
    return rows;
  }

  // A feature, else a label: [batch].
  static at::Tensor column(const nexuml::Batch& batch, const std::string& key) {
    const at::Tensor* found = batch.x.find(key);
    if (!found && batch.y) found = batch.y->find(key);
    return (found ? *found : batch.x.get(key)).to(at::kCPU).flatten();
  }

  const DecisionRuleLayer definition_;
  std::shared_ptr<nexuml::DecisionRule> rule_;
  std::vector<std::pair<std::string, at::Tensor>> state_;  // buffers rule.<name>
  std::vector<at::Tensor> collected_;
};

}  // namespace

void DecisionRuleSpec::describe(nexuml::Schema<DecisionRuleSpec>& s) {
  s.summary("A decision rule and its arguments.");
  s.field("factory", &DecisionRuleSpec::factory).doc("The rule, as module:name.");
  s.field("args", &DecisionRuleSpec::args).doc("Positional arguments.");
  s.field("kwargs", &DecisionRuleSpec::kwargs).doc("Keyword arguments.");
  s.factory_of(nexuml::TargetKind::decision_rule);
}

void DecisionRuleLayer::describe(nexuml::Schema<DecisionRuleLayer>& s) {
  s.summary("Decides on anomaly scores by a rule that is fitted after training.");
  s.field("rule", &DecisionRuleLayer::rule).doc("The rule that finds the threshold.");
  s.field("fit_mask_key", &DecisionRuleLayer::fit_mask_key)
      .doc("A feature or label whose non-zero rows the rule is fitted on; null: all.");
  s.field("fit_label_key", &DecisionRuleLayer::fit_label_key)
      .doc("A label whose normal rows the rule is fitted on; null: all.");
  s.field("normal_label_value", &DecisionRuleLayer::normal_label_value)
      .doc("The value of fit_label_key that is normal.");
}

nexuml::Shapes DecisionRuleLayer::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  return context.single_output({.shape = context.input().shape, .dtype = nexuml::DType::int64});
}

std::shared_ptr<nexuml::PipelineLayer> DecisionRuleLayer::build(
    const nexuml::LayerBuildContext& context) const {
  if (!context.targets) context.fail("the decision rule cannot be built: there is no target table");
  const auto target =
      context.targets->make<nexuml::TargetKind::decision_rule>(rule.factory, rule.args, rule.kwargs);
  return std::make_shared<DecisionRuleRuntime>(context, *this, target->build({}));
}

}  // namespace nexuml_library
