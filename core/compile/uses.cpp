#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "compile/graph.h"

namespace nexuml {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Whether a text stands anywhere in a value.
bool mentions(const Value& value, const std::string& text) {
  if (value.is_string()) return value.as_string() == text;
  if (value.is_list())
    return std::any_of(value.items().begin(), value.items().end(),
                       [&](const Value& item) { return mentions(item, text); });
  if (value.is_map())
    return std::any_of(value.entries().begin(), value.entries().end(),
                       [&](const Value::Entry& entry) { return mentions(entry.value, text); });
  return false;
}

class UseCheck {
 public:
  UseCheck(Graph& graph, const CompileInput& input, Diagnostics& problems)
      : graph_(graph), scenario_(input.scenario), root_(input.document), problems_(problems) {
    collect_epoch_metrics();
  }

  void run() {
    losses();
    metrics();
    progress_keys();
    monitors();
    skipped_stages();
    preprocessing();
    evaluation();
    unused_outputs();
  }

 private:
  bool use(const std::string& key) {
    const auto found = graph_.keys.find(key);
    if (found == graph_.keys.end()) return false;
    found->second.used = true;
    return true;
  }

  // Names that layers tell under the attribute `epoch_metrics`.
  void collect_epoch_metrics() {
    for (const GraphLayer& layer : graph_.layers) {
      if (!layer.shapes) metrics_known_ = false;
      const Value* names = layer.shapes ? layer.shapes->attributes.find("epoch_metrics") : nullptr;
      if (!names || !names->is_list()) continue;
      for (const Value& name : names->items())
        if (name.is_string()) epoch_metrics_.push_back(name.as_string());
    }
  }

  void losses() {
    const Place place = root_["training"]["loss_keys"];
    bool some_loss_at_start = scenario_.training.loss_keys.empty();
    for (const auto& [key, weight] : scenario_.training.loss_keys) {
      if (!use(key))
        report("E804", fmt::format("the loss '{}' is produced by no layer", key), place.key(key), key,
               graph_.key_order);
      some_loss_at_start = some_loss_at_start || !delayed(key);
    }
    if (!some_loss_at_start)
      problems_
          .error("E809", "in epoch 0 there is no loss: every loss key comes from a layer with delay_epochs",
                 place.where())
          .hint = "let one loss start at epoch 0";
  }
  bool delayed(const std::string& key) const {
    const auto found = graph_.keys.find(key);
    if (found == graph_.keys.end() || found->second.creator < 0) return false;
    return graph_.layers[static_cast<std::size_t>(found->second.creator)].spec->delay_epochs > 0;
  }

  bool is_epoch_metric(const std::string& key) const {
    return std::any_of(epoch_metrics_.begin(), epoch_metrics_.end(),
                       [&](const std::string& name) { return lower(name) == lower(key); });
  }

  void metrics() {
    const Place place = root_["training"]["metric_keys"];
    auto known = graph_.key_order;
    known.insert(known.end(), epoch_metrics_.begin(), epoch_metrics_.end());
    const Keys& keys = scenario_.training.metric_keys;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (use(keys[i]) || is_epoch_metric(keys[i])) continue;
      if (metrics_known_)
        report("E804", fmt::format("the metric '{}' is produced by no layer", keys[i]), place[i], keys[i],
               known);
      else
        problems_.warning("W817", fmt::format("no layer is known to produce the metric '{}'", keys[i]),
                          place[i].where());
    }
  }

  // Everything that is logged, without the stage.
  std::vector<std::string> logged_names() const {
    std::vector<std::string> names{"loss"};
    for (const auto& [key, weight] : scenario_.training.loss_keys) names.push_back(key);
    for (const std::string& key : scenario_.training.metric_keys) names.push_back(key);
    return names;
  }
  std::vector<std::string> logged_names_by_stage() const {
    std::vector<std::string> names;
    for (const char* stage : {"train", "val", "test"})
      for (const std::string& name : logged_names()) names.push_back(fmt::format("{}/{}", stage, name));
    return names;
  }
  static bool listed(const std::vector<std::string>& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& known) { return lower(known) == lower(name); });
  }

  void progress_keys() {
    const Place place = root_["training"]["progress_bar_keys"];
    const auto* keys = std::get_if<Keys>(&scenario_.training.progress_bar_keys);
    if (!keys) return;
    auto known = logged_names();
    const auto by_stage = logged_names_by_stage();
    known.insert(known.end(), by_stage.begin(), by_stage.end());
    for (std::size_t i = 0; i < keys->size(); ++i)
      if (!listed(known, (*keys)[i]))
        report("E804", fmt::format("the progress bar key '{}' is never logged", (*keys)[i]), place[i],
               (*keys)[i], known);
  }

  void monitors() {
    monitor(scenario_.training.scheduler.kwargs, root_["training"]["scheduler"]["kwargs"], "the scheduler");
    for (std::size_t i = 0; i < scenario_.callbacks.size(); ++i)
      monitor(scenario_.callbacks[i].kwargs, root_["callbacks"][i]["kwargs"], scenario_.callbacks[i].factory);
  }
  void monitor(const Value& kwargs, const Place& place, const std::string& who) {
    const Value* key = kwargs.find("monitor");
    if (!key || !key->is_string()) return;
    const auto known = logged_names_by_stage();
    if (std::find(known.begin(), known.end(), key->as_string()) != known.end()) return;
    report("E812", fmt::format("{} monitors '{}', which is never logged", who, key->as_string()),
           place["monitor"], key->as_string(), known);
  }

  void skipped_stages() {
    const Place place = root_["data"]["skip_pipeline_stages"];
    const Keys& skip = scenario_.data.skip_pipeline_stages;
    std::vector<std::string> stages;
    for (const auto& [stage, layers] : scenario_.pipeline.stages) stages.push_back(stage);
    for (std::size_t i = 0; i < skip.size(); ++i)
      if (!scenario_.pipeline.stages.contains(skip[i]))
        report("E811", fmt::format("no stage is called '{}'", skip[i]), place[i], skip[i], stages);
  }

  void preprocessing() {
    const PreprocessingSpec& spec = scenario_.data.preprocessing;
    if (!spec.enabled) return;
    const Place place = root_["data"]["preprocessing"];
    produced(spec.until_x_keys, place["until_x_keys"]);
    if (spec.x_keys) produced(*spec.x_keys, place["x_keys"]);
  }
  void produced(const Keys& keys, const Place& place) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!use(keys[i]))
        report("E804", fmt::format("preprocessing needs '{}', which no layer and no data give", keys[i]),
               place[i], keys[i], graph_.key_order);
  }

  void evaluation() {
    const auto& algorithms = scenario_.evaluation.algorithms;
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      const Place place = root_["evaluation"]["algorithms"][i];
      if (algorithms[i].feature_key) evaluation_key(*algorithms[i].feature_key, false, place["feature_key"]);
      if (algorithms[i].label_key) evaluation_key(*algorithms[i].label_key, true, place["label_key"]);
      if (!algorithms[i].algorithm.has_value()) continue;
      const Value params = algorithms[i].algorithm.params();
      for (auto& [key, state] : graph_.keys)
        if (!state.used && mentions(params, key)) state.used = true;
    }
  }
  // Only advice: an algorithm may take the key from the metadata columns of the data.
  void evaluation_key(const std::string& key, bool label, const Place& place) {
    if (use(key) || graph_.data.labels.contains(key)) return;
    const bool knowable = label ? graph_.data.labels_complete : graph_.data.features_complete;
    if (!knowable) return;
    std::vector<std::string> known = graph_.key_order;
    for (const auto& [name, spec] : graph_.data.labels) known.push_back(name);
    problems_
        .warning("W818", fmt::format("the evaluation reads '{}', which neither data nor layers give", key),
                 place.where())
        .hint = did_you_mean(key, known);
  }

  void unused_outputs() {
    // Without a loss nothing is trained: whatever the layers make is the result.
    if (scenario_.training.loss_keys.empty()) return;
    if (const auto* keys = std::get_if<Keys>(&scenario_.training.progress_bar_keys))
      for (const std::string& key : *keys) use(key);
    for (const GraphLayer& layer : graph_.layers)
      for (std::size_t i = 0; i < layer.spec->keys_out.size(); ++i) {
        const auto& state = graph_.keys.at(layer.spec->keys_out[i]);
        if (state.used || &graph_.layers[static_cast<std::size_t>(state.writer)] != &layer) continue;
        problems_
            .warning("W814", fmt::format("nobody uses the output '{}'", layer.spec->keys_out[i]),
                     layer.place["keys_out"][i].where(layer.path))
            .hint = "list it in loss_keys or metric_keys, read it in a later layer, or remove the layer";
      }
  }

  void report(const char* code, std::string message, const Place& place, const std::string& name,
              const std::vector<std::string>& known) {
    auto& problem = problems_.error(code, std::move(message), place.where());
    problem.hint = did_you_mean(name, known);
    if (problem.hint.empty() && !known.empty() && known.size() <= 12)
      problem.hint = fmt::format("there are: {}", fmt::join(known, ", "));
  }

  Graph& graph_;
  const ScenarioSpec& scenario_;
  Place root_;
  Diagnostics& problems_;
  std::vector<std::string> epoch_metrics_;
  bool metrics_known_ = true;
};

}  // namespace

void check_uses(Graph& graph, const CompileInput& input, Diagnostics& problems) {
  UseCheck(graph, input, problems).run();
}

}  // namespace nexuml
