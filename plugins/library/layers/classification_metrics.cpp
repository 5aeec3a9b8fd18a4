#include "layers/classification_metrics.h"

#include <nexuml/layer.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "layers/metric_state.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

std::optional<MetricName> metric_name(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text == "accuracy") return MetricName::accuracy;
  if (text == "f1") return MetricName::f1;
  if (text == "map" || text == "average_precision") return MetricName::average_precision;
  return std::nullopt;
}

constexpr const char* known_metrics = "accuracy, f1, map and average_precision are known";

std::int64_t logit_count(const nexuml::LayerInferContext& context) {
  const std::int64_t logits = last_size(context);
  if (context.num_classes && *context.num_classes != logits)
    context.fail("the data has " + std::to_string(*context.num_classes) + " classes, '" + context.keys_in[0] +
                 "' has " + std::to_string(logits) + " logits");
  return logits;
}

// What an epoch reports and which of it stands in the batch.
struct MetricPlan {
  std::vector<std::string> names;
  std::vector<MetricName> metrics;
  std::vector<std::size_t> written;  // for each output key the index of its metric
};

class MetricsRuntime final : public nexuml::PipelineLayer {
 public:
  MetricsRuntime(const nexuml::LayerBuildContext& context, MetricPlan plan, const MetricOptions& options)
      : PipelineLayer(context), plan_(std::move(plan)), validation_(options), test_(options) {}

  void forward(nexuml::Batch& batch) override {
    const at::Tensor logits = input(batch);  // writing outputs moves what the batch holds
    const at::Tensor labels = label(batch);
    if (!labels.defined()) {
      for (std::size_t i = 0; i < keys_out().size(); ++i) write(batch, i, 0.0, logits);
      return;
    }
    MetricState* state = phase(mode());
    if (!state) return;
    state->add(logits, labels, plan_.metrics);
    for (std::size_t i = 0; i < keys_out().size(); ++i)
      write(batch, i, state->value(plan_.metrics[plan_.written[i]]), logits);
  }

  nexuml::OrderedMap<double> epoch_metrics(nexuml::Mode mode) override {
    nexuml::OrderedMap<double> values;
    if (const MetricState* state = phase(mode); state && !state->empty())
      for (std::size_t i = 0; i < plan_.names.size(); ++i)
        values[plan_.names[i]] = state->defined(plan_.metrics[i]) ? state->value(plan_.metrics[i])
                                                                  : std::numeric_limits<double>::quiet_NaN();
    return values;
  }

  void on_validation_start() override { validation_.clear(); }
  void on_validation_epoch_start() override { validation_.clear(); }
  void on_test_start() override { test_.clear(); }
  void on_test_epoch_start() override { test_.clear(); }

 private:
  MetricState* phase(nexuml::Mode mode) {
    if (mode == nexuml::Mode::validating) return &validation_;
    if (mode == nexuml::Mode::testing) return &test_;
    return nullptr;
  }
  void write(nexuml::Batch& batch, std::size_t index, double value, const at::Tensor& like) const {
    set_output(batch, at::full({like.size(0)}, value, like.options().dtype(at::kFloat)), index);
  }

  MetricPlan plan_;
  MetricState validation_, test_;
};

Average averaged_by(MetricAverage average) {
  if (average == MetricAverage::micro) return Average::micro;
  return average == MetricAverage::macro ? Average::macro : Average::weighted;
}

// An output key gets the metric of its name, else the metric at its place.
MetricPlan metric_plan(const nexuml::LayerInferContext& context, const ClassificationMetrics& definition) {
  MetricPlan plan{.names = definition.metrics.value_or(context.keys_out), .metrics = {}, .written = {}};
  if (context.keys_in.size() != 1)
    context.fail("keys_in must list the logits alone, found " + std::to_string(context.keys_in.size()) +
                 " keys");
  for (const std::string& name : plan.names) {
    const std::optional<MetricName> metric = metric_name(name);
    if (!metric)
      context.fail("'" + name + "' is no metric: " + known_metrics, "name the metrics in `metrics`");
    if (*metric == MetricName::average_precision && !definition.multi_label &&
        definition.average == MetricAverage::micro)
      context.fail("average precision of one class per sample has no micro average");
    plan.metrics.push_back(*metric);
  }
  for (std::size_t i = 0; i < context.keys_out.size(); ++i) {
    const auto named = std::ranges::find(plan.names, context.keys_out[i]);
    if (named == plan.names.end() && plan.names.size() != context.keys_out.size())
      context.fail("no metric belongs to the output key '" + context.keys_out[i] + "'");
    plan.written.push_back(named == plan.names.end() ? i
                                                     : static_cast<std::size_t>(named - plan.names.begin()));
  }
  return plan;
}

nexuml::Shapes metric_shapes(const nexuml::LayerInferContext& context) {
  nexuml::Shapes shapes;
  for (const std::string& key : context.keys_out) shapes.outputs[key] = per_sample();
  return shapes;
}

}  // namespace

void ClassificationMetrics::describe(nexuml::Schema<ClassificationMetrics>& s) {
  s.summary("Accuracy, F1 and mean average precision over a validation or test epoch.");
  s.field("metrics", &ClassificationMetrics::metrics)
      .doc("Any of accuracy, f1, map and average_precision, one for each output key; null: the output keys.");
  s.field("average", &ClassificationMetrics::average)
      .doc(
          "How f1, average precision and the accuracy of multi-label data are averaged over classes; the "
          "mean over classes of multi-label average precision is never weighted.");
  s.field("top_k", &ClassificationMetrics::top_k)
      .doc("Accuracy counts a sample as right when its class is among the top_k logits.")
      .at_least(1);
  s.field("multi_label", &ClassificationMetrics::multi_label)
      .doc("Whether a sample may have any number of classes.");
  s.check([](const ClassificationMetrics& value, nexuml::RuleProblems& problems) {
    for (const std::string& name : value.metrics.value_or(std::vector<std::string>{}))
      if (!metric_name(name)) problems.add("metrics", "'" + name + "' is no metric: " + known_metrics);
  });
}

nexuml::Shapes ClassificationMetrics::infer(const nexuml::LayerInferContext& context) const {
  (void)metric_plan(context, *this);
  const std::int64_t classes = logit_count(context);
  if (classes == 1 && !multi_label)
    context.fail("one class alone says nothing: every prediction is right",
                 "give a logit for each class, or set multi_label");
  if (top_k > classes)
    context.fail("top_k is " + std::to_string(top_k) + ", there are " + std::to_string(classes) + " classes");
  return metric_shapes(context);
}

std::shared_ptr<nexuml::PipelineLayer> ClassificationMetrics::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<MetricsRuntime>(context, metric_plan(context, *this),
                                          MetricOptions{.classes = logit_count(context),
                                                        .average = averaged_by(average),
                                                        .top_k = top_k,
                                                        .multi_label = multi_label});
}

void MultiLabelMAPMetrics::describe(nexuml::Schema<MultiLabelMAPMetrics>& s) {
  s.summary("Mean average precision of multi-label logits over a validation or test epoch.");
}

nexuml::Shapes MultiLabelMAPMetrics::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, context.keys_out.size());
  (void)logit_count(context);
  return metric_shapes(context);
}

std::shared_ptr<nexuml::PipelineLayer> MultiLabelMAPMetrics::build(
    const nexuml::LayerBuildContext& context) const {
  MetricPlan plan{.names = {"mAP"},
                  .metrics = {MetricName::average_precision},
                  .written = std::vector<std::size_t>(context.keys_out.size(), 0)};
  return std::make_shared<MetricsRuntime>(
      context, std::move(plan), MetricOptions{.classes = logit_count(context), .multi_label = true});
}

}  // namespace nexuml_library
