// The passes that change no weight: validate, test, and the fit of layers after training.
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "train/trainer.h"

namespace nexuml {

namespace {

bool same_name(const std::string& left, const std::string& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

// The unfitted layers that read nothing of another unfitted one: one pass over the data serves them all.
std::vector<PostTrainLayer*> ready_to_fit(const CompiledPipeline& pipeline) {
  std::set<std::string> waiting;  // keys that come, over any number of layers, from one that is not fitted
  std::vector<PostTrainLayer*> ready;
  for (const PipelineEntry& entry : pipeline.layers()) {
    PipelineLayer& layer = *entry.layer;
    const auto waits = [&](const std::string& key) { return waiting.contains(key); };
    const bool depends = std::ranges::any_of(layer.keys_in(), waits) ||
                         (layer.label_in_x() && std::ranges::any_of(layer.label_keys(), waits));
    auto* post_train = dynamic_cast<PostTrainLayer*>(&layer);
    const bool unfitted = post_train && !post_train->fitted();
    if (unfitted && !depends) ready.push_back(post_train);
    for (const std::string& key : layer.keys_out()) {
      if (depends || unfitted)
        waiting.insert(key);
      else
        waiting.erase(key);
    }
  }
  return ready;
}

}  // namespace

struct Trainer::Stage {
  std::string prefix;
  Mode mode;
  Hook start, epoch_start, epoch_end, end;
};

namespace {

// Eval mode without gradients; puts the modules' training flag back.
class EvalScope {
 public:
  explicit EvalScope(CompiledPipeline& pipeline)
      : pipeline_(pipeline), was_training_(pipeline.is_training()) {
    pipeline_.eval();
  }
  ~EvalScope() { pipeline_.train(was_training_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  CompiledPipeline& pipeline_;
  bool was_training_;
  at::AutoGradMode no_grad_{false};
};

}  // namespace

OrderedMap<double> Trainer::validate() {
  return validate_batches(std::nullopt);
}

OrderedMap<double> Trainer::validate_batches(std::optional<std::int64_t> at_most) {
  static const Stage stage{"val/",
                           Mode::validating,
                           Hook::validation_start,
                           Hook::validation_epoch_start,
                           Hook::validation_epoch_end,
                           Hook::validation_end};
  return run_stage(stage, Split::val, at_most, nullptr);
}

OrderedMap<double> Trainer::test(EvaluationRun* evaluation) {
  static const Stage stage{
      "test/", Mode::testing, Hook::test_start, Hook::test_epoch_start, Hook::test_epoch_end, Hook::test_end};
  if (evaluation && evaluation->needs_fit()) {
    const OrderedMap<MetadataColumn> columns = data_.dataset().metadata();
    predict([&](const Batch& batch) { evaluation->fit_batch(eval_batch_of(batch, columns)); });
    evaluation->fit_end();
  }
  return run_stage(stage, Split::test, std::nullopt, evaluation);
}

OrderedMap<double> Trainer::run_stage(const Stage& stage, Split split, std::optional<std::int64_t> at_most,
                                      EvaluationRun* evaluation) {
  const EvalScope eval(pipeline_);
  const OrderedMap<MetadataColumn> columns =
      evaluation ? data_.dataset().metadata() : OrderedMap<MetadataColumn>{};
  const std::unique_ptr<DataLoader> loader = data_.make_loader(split);
  WeightedMeans means;
  pipeline_.call_layer_hook(stage.start);
  pipeline_.call_layer_hook(stage.epoch_start);
  loader->start_epoch(0);
  for (std::int64_t done = 0; !at_most || done < *at_most; ++done) {
    std::optional<Batch> batch = loader->next();
    if (!batch) break;
    Batch moved = on_device(*std::move(batch));
    const std::int64_t samples = moved.batch_size();
    const PrecisionGuard precision(options_.precision, strategy_.device);
    pipeline_.forward(moved);
    if (evaluation) evaluation->eval_batch(eval_batch_of(moved, columns));
    const LossTerms losses = losses_(moved.x);
    if (losses.total.defined()) means.add(stage.prefix + "loss", losses.total, samples);
    for (const auto& [key, value] : losses.terms) means.add(stage.prefix + key, value, samples);
  }
  OrderedMap<double> metrics = means.means();
  for (const auto& [name, value] : epoch_metrics(stage)) metrics[name] = value;
  pipeline_.call_layer_hook(stage.epoch_end);
  pipeline_.call_layer_hook(stage.end);
  // A metric that a layer computed stands before one of the same name that is mirrored.
  if (evaluation)
    for (const auto& [name, value] : evaluation->finish())
      if (!metrics.contains(name)) metrics[name] = value;
  return metrics;
}

// Those of the layers' epoch metrics that `metric_keys` names.
OrderedMap<double> Trainer::epoch_metrics(const Stage& stage) const {
  OrderedMap<double> metrics;
  for (const PipelineEntry& entry : pipeline_.layers())
    for (const auto& [name, value] : entry.layer->epoch_metrics(stage.mode)) {
      const auto wanted = [&, &own = name](const std::string& key) { return same_name(key, own); };
      if (std::any_of(options_.metric_keys.begin(), options_.metric_keys.end(), wanted))
        metrics[stage.prefix + name] = value;
    }
  return metrics;
}

void Trainer::predict(const std::function<void(const Batch&)>& after_batch) {
  const EvalScope eval(pipeline_);
  const std::unique_ptr<DataLoader> loader = data_.make_ordered_loader(Split::train);
  pipeline_.call_layer_hook(Hook::predict_start);
  loader->start_epoch(0);
  for (std::optional<Batch> batch = loader->next(); batch; batch = loader->next()) {
    Batch moved = on_device(*std::move(batch));
    pipeline_.forward(moved);
    if (after_batch) after_batch(moved);
  }
  pipeline_.call_layer_hook(Hook::predict_end);
}

void Trainer::fit_post_train_layers() {
  for (auto layers = ready_to_fit(pipeline_); !layers.empty(); layers = ready_to_fit(pipeline_)) {
    for (PostTrainLayer* layer : layers) layer->arm();
    predict({});
    for (const PostTrainLayer* layer : layers)
      if (!layer->fitted())
        throw Error("E824", "the layer is still unfitted after its pass over the training data",
                    Where::in_layer(layer->layer_name()));
  }
}

EvalBatch Trainer::eval_batch_of(const Batch& batch, const OrderedMap<MetadataColumn>& columns) {
  const at::Tensor* rows = batch.x.find("sample_index");
  return {.x = batch.x,
          .y = batch.y ? &*batch.y : nullptr,
          .metadata = rows && !columns.empty() ? metadata_rows(columns, *rows) : OrderedMap<MetadataColumn>{},
          .size = batch.batch_size()};
}

}  // namespace nexuml
