#include "callbacks/model_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace nexuml_torch {

namespace {

class ModelCheckpointRuntime final : public nexuml::Callback {
 public:
  explicit ModelCheckpointRuntime(ModelCheckpoint options) : options_(std::move(options)) {}

  void train_batch_end(nexuml::TrainingView& view) override {
    if (options_.every_n_train_steps &&
        view.global_step() % std::max<std::int64_t>(1, *options_.every_n_train_steps) == 0)
      consider(view, view.metrics());
  }
  void epoch_end(nexuml::TrainingView& view) override {
    if (options_.every_n_train_steps) return;
    if (view.epoch() % std::max<std::int64_t>(1, options_.every_n_epochs.value_or(1)) == 0) {
      if (options_.monitor) monitored_value(view, *options_.monitor, "ModelCheckpoint");
      consider(view, view.metrics());
    }
  }

  nexuml::TrainingState state() const override {
    nexuml::Value kept = nexuml::Value::list();
    for (const Kept& entry : kept_)
      kept.push_back(nexuml::Value::map({{"index", entry.index}, {"score", entry.score}}));
    nexuml::TrainingState state;
    state.scalars.set("kept", std::move(kept));
    state.scalars.set("last", last_);
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    kept_.clear();
    for (const nexuml::Value& entry : state.scalars.at("kept").items())
      kept_.push_back({entry.at("index").as_integer(), entry.at("score").as_number()});
    last_ = state.scalars.at("last").as_integer();
  }
  nexuml::OrderedMap<double> results() const override {
    nexuml::OrderedMap<double> results;
    if (kept_.empty() || !options_.monitor) return results;
    results["best_checkpoint"] = static_cast<double>(kept_.front().index);
    results["best_" + *options_.monitor] = kept_.front().score;
    return results;
  }

 private:
  struct Kept {
    std::int64_t index;
    double score;  // finite; 0 without a monitor
  };

  bool saves_last() const {
    if (!options_.save_last) return false;
    const bool* flag = std::get_if<bool>(&*options_.save_last);
    return !flag || *flag;
  }

  // Without a monitor the newest is the best.
  bool better(double left, double right) const {
    return !options_.monitor || improves(options_.mode, left, right, 0);
  }

  void consider(nexuml::TrainingView& view, const nexuml::OrderedMap<double>& metrics) {
    double score = 0;
    if (options_.monitor) {
      const double* value = metrics.find(*options_.monitor);
      score = value ? *value : std::nan("");
    }
    const bool full =
        options_.save_top_k >= 0 && static_cast<std::int64_t>(kept_.size()) >= options_.save_top_k;
    const bool is_kept =
        options_.save_top_k != 0 && std::isfinite(score) && (!full || better(score, kept_.back().score));
    if (!is_kept && !saves_last()) return;
    // Before the save: the state inside the checkpoint speaks of this checkpoint too.
    const std::vector<Kept> kept_before = kept_;
    const std::int64_t last_before = last_, index = view.next_checkpoint();
    if (saves_last()) last_ = index;
    if (is_kept) keep({index, score});
    if (!save(view)) {
      kept_ = kept_before;
      last_ = last_before;
      return;
    }
    for (const Kept& entry : kept_before)
      if (!holds(entry.index)) view.remove_checkpoint(entry.index);
    const bool was_kept = std::any_of(kept_before.begin(), kept_before.end(),
                                      [&](const Kept& entry) { return entry.index == last_before; });
    if (last_before >= 0 && !was_kept && !holds(last_before)) view.remove_checkpoint(last_before);
  }

  // False where it could not be written, which the run has told: training goes on.
  static bool save(nexuml::TrainingView& view) {
    try {
      view.save_checkpoint();
      return true;
    } catch (const nexuml::Error& error) {
      if (error.diagnostics().entries().front().code != "E762") throw;
      return false;
    }
  }

  void keep(Kept entry) {
    const auto place = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& other) { return better(entry.score, other.score); });
    kept_.insert(place, entry);
    if (options_.save_top_k >= 0 && static_cast<std::int64_t>(kept_.size()) > options_.save_top_k)
      kept_.pop_back();
  }

  bool holds(std::int64_t index) const {
    return index == last_ ||
           std::any_of(kept_.begin(), kept_.end(), [&](const Kept& entry) { return entry.index == index; });
  }

  const ModelCheckpoint options_;
  std::vector<Kept> kept_;  // best first
  std::int64_t last_ = -1;
};

}  // namespace

void ModelCheckpoint::describe(nexuml::Schema<ModelCheckpoint>& s) {
  s.summary(
      "Saves the best and the last checkpoints, as Lightning's ModelCheckpoint; they lie in the run folder.");
  s.field("dirpath", &ModelCheckpoint::dirpath)
      .doc("Accepted with a warning; checkpoints lie in the run folder.");
  s.field("filename", &ModelCheckpoint::filename).doc("Accepted with a warning; checkpoints are numbered.");
  s.field("monitor", &ModelCheckpoint::monitor).doc("The metric that says which is best; none: the newest.");
  s.field("verbose", &ModelCheckpoint::verbose).doc("Accepted with a warning; has no effect.");
  s.field("save_last", &ModelCheckpoint::save_last).doc("Keep the newest too.");
  s.field("save_top_k", &ModelCheckpoint::save_top_k)
      .doc("How many of the best to keep; -1 all, 0 none.")
      .at_least(-1);
  s.field("save_weights_only", &ModelCheckpoint::save_weights_only)
      .doc("Accepted with a warning; a checkpoint always holds what a resumed run needs.");
  s.field("mode", &ModelCheckpoint::mode).doc("Whether smaller or larger is better.");
  s.field("auto_insert_metric_name", &ModelCheckpoint::auto_insert_metric_name)
      .doc("Accepted; has no effect.");
  s.field("every_n_train_steps", &ModelCheckpoint::every_n_train_steps).doc("Save by steps.").at_least(0);
  s.field("train_time_interval", &ModelCheckpoint::train_time_interval).doc("Has to be null.");
  s.field("every_n_epochs", &ModelCheckpoint::every_n_epochs).doc("Save by epochs.").at_least(0);
  s.field("save_on_train_epoch_end", &ModelCheckpoint::save_on_train_epoch_end)
      .doc("Accepted; the end of the epoch is after validation.");
  s.field("enable_version_counter", &ModelCheckpoint::enable_version_counter).doc("Accepted; has no effect.");
  s.check([](const ModelCheckpoint& value, nexuml::RuleProblems& problems) {
    if (value.train_time_interval) problems.add("train_time_interval", "saving by time is not offered");
    if (value.every_n_train_steps && value.every_n_epochs)
      problems.add("every_n_epochs", "every_n_train_steps and every_n_epochs exclude each other");
    if (!value.monitor && value.save_top_k > 1)
      problems.add("save_top_k",
                   "more than one best needs a metric to compare: set monitor, or save_top_k to -1, 0 or 1");
  });
}

std::shared_ptr<nexuml::Callback> ModelCheckpoint::build(const nexuml::CallbackBuildContext& context) const {
  std::vector<std::string> ignored;
  if (dirpath) ignored.emplace_back("dirpath");
  if (filename) ignored.emplace_back("filename");
  if (save_weights_only) ignored.emplace_back("save_weights_only");
  if (verbose) ignored.emplace_back("verbose");
  if (!ignored.empty() && context.advice)
    context.advice
        ->warning(
            "W847",
            fmt::format("ModelCheckpoint: {} without effect: checkpoints are complete, numbered, and lie "
                        "in the run folder",
                        fmt::join(ignored, ", ")))
        .hint = "leave the arguments out; `best_checkpoint` of the summary names the best";
  return std::make_shared<ModelCheckpointRuntime>(*this);
}

}  // namespace nexuml_torch
