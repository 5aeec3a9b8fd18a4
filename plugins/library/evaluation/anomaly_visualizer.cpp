#include "evaluation/anomaly_visualizer.h"

#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "evaluation/batch_columns.h"
#include "evaluation/chart.h"
#include "evaluation/random_index.h"
#include "evaluation/table_file.h"

namespace nexuml_library {

namespace {

constexpr std::size_t score_bins = 40;
constexpr std::size_t most_groups = 30;  // of one key; more plots help nobody

struct ScoredSample {
  double score = 0;
  bool anomalous = false;
  std::vector<std::string> groups;
};

class AnomalyPlotRuntime final : public nexuml::EvalAlgorithm {
 public:
  AnomalyPlotRuntime(const AnomalyVisualizer& settings, nexuml::EvalBuildContext context)
      : settings_(settings),
        context_(std::move(context)),
        label_key_(context_.label_key.value_or("y_true")),
        random_(context_.seed) {}

  void eval_batch(const nexuml::EvalBatch& batch) override {
    const auto numbers = [](const at::Tensor& tensor) {
      return tensor.to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
    };
    const at::Tensor scores = numbers(batch.tensor(settings_.score_key, context_.name));
    const at::Tensor labels = numbers(batch.label(label_key_, context_.name));
    if (scores.numel() != labels.numel())
      throw nexuml::Error("E853", fmt::format("{} scores and {} labels", scores.numel(), labels.numel()));
    std::vector<std::vector<std::string>> groups;
    for (const std::string& key : settings_.group_keys)
      groups.push_back(column_texts(batch, context_, key, axis_source(context_, key)));
    for (std::int64_t i = 0; i < scores.numel(); ++i) {
      const double label = labels.const_data_ptr<double>()[i];
      if (label != 0 && label != 1) continue;
      ScoredSample sample{.score = scores.const_data_ptr<double>()[i], .anomalous = label == 1};
      if (!std::isfinite(sample.score)) {
        ++not_finite_;
        continue;
      }
      for (const auto& column : groups) sample.groups.push_back(column[static_cast<std::size_t>(i)]);
      keep(std::move(sample));
    }
  }

  nexuml::OrderedMap<double> results() const override {
    nexuml::OrderedMap<double> numbers{{"n_plotted_samples", static_cast<double>(samples_.size())}};
    if (not_finite_ > 0) numbers["n_not_finite"] = static_cast<double>(not_finite_);
    return numbers;
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (samples_.empty()) return;
    std::vector<const ScoredSample*> all;
    for (const ScoredSample& sample : samples_) all.push_back(&sample);
    plot(folder / "anomaly_scores", "Anomaly scores", all);
    for (std::size_t key = 0; key < settings_.group_keys.size(); ++key) {
      std::map<std::string, std::vector<const ScoredSample*>> groups;
      for (const ScoredSample& sample : samples_) groups[sample.groups[key]].push_back(&sample);
      if (groups.size() > most_groups) continue;
      for (const auto& [group, members] : groups)
        plot(folder / file_name(fmt::format("anomaly_scores_{}_{}", settings_.group_keys[key], group)),
             fmt::format("Anomaly scores: {} {}", settings_.group_keys[key], group), members);
    }
  }

 private:
  // Algorithm R: each sample that passed has the same chance to be kept.
  void keep(ScoredSample sample) {
    const std::int64_t place = seen_ < settings_.max_plot_samples ? seen_ : random_index(random_, seen_ + 1);
    ++seen_;
    if (place >= settings_.max_plot_samples) return;
    if (place == static_cast<std::int64_t>(samples_.size()))
      samples_.push_back(std::move(sample));
    else
      samples_[static_cast<std::size_t>(place)] = std::move(sample);
  }

  void plot(const std::filesystem::path& stem, const std::string& title,
            const std::vector<const ScoredSample*>& samples) const {
    std::vector<double> scores;
    for (const ScoredSample* sample : samples) scores.push_back(sample->score);
    const Range range = range_of(scores, 0.02);
    std::vector<double> counts[2] = {std::vector<double>(score_bins), std::vector<double>(score_bins)};
    for (const ScoredSample* sample : samples) {
      const double place =
          (sample->score - range.low) / (range.high - range.low) * static_cast<double>(score_bins);
      ++counts[sample->anomalous][std::min(score_bins - 1, static_cast<std::size_t>(place))];
    }
    const double highest = std::max(std::ranges::max(counts[0]), std::ranges::max(counts[1]));
    const auto total = [](const std::vector<double>& part) {
      double sum = 0;
      for (const double count : part) sum += count;
      return sum;
    };
    save_figure(stem, {.width = 640, .height = 400}, [&](Canvas& canvas) {
      const Axes axes(canvas, {0, 0, 500, 400}, {range, {0, highest * 1.08}},
                      {.title = title, .x = fmt::format("score '{}'", settings_.score_key), .y = "samples"});
      if (not_finite_ > 0)
        canvas.text({axes.box().x, 388}, fmt::format("left out: {} scores that are not finite", not_finite_),
                    {.size = 10, .color = faint_ink});
      for (const std::size_t kind : {std::size_t{0}, std::size_t{1}})
        draw_bars(canvas, axes, range, counts[kind], palette_color(kind == 0 ? 0 : 3));
      draw_legend(canvas, {508, 36},
                  {{fmt::format("normal ({:g})", total(counts[0])), palette_color(0)},
                   {fmt::format("anomalous ({:g})", total(counts[1])), palette_color(3)}},
                  130);
    });
  }

  static void draw_bars(Canvas& canvas, const Axes& axes, Range range, const std::vector<double>& counts,
                        Color color) {
    const double step = (range.high - range.low) / static_cast<double>(score_bins);
    for (std::size_t i = 0; i < score_bins; ++i) {
      const double low = range.low + step * static_cast<double>(i);
      const Point corner = axes.at(low, counts[i]), base = axes.at(low + step, 0);
      canvas.rectangle({corner.x + 0.4, corner.y, base.x - corner.x - 0.8, base.y - corner.y}, color, 0.6);
    }
  }

  const AnomalyVisualizer settings_;
  const nexuml::EvalBuildContext context_;
  const std::string label_key_;
  std::mt19937_64 random_;
  std::vector<ScoredSample> samples_;
  std::int64_t seen_ = 0, not_finite_ = 0;
};

}  // namespace

void AnomalyVisualizer::describe(nexuml::Schema<AnomalyVisualizer>& s) {
  s.summary(
      "Histogram of the anomaly scores of normal and anomalous samples, as a plot.\n"
      "reads: score_key [batch], label_key (null: y_true) as 0 and 1");
  s.field("score_key", &AnomalyVisualizer::score_key).doc("Key of the scores; higher is more anomalous.");
  s.field("group_keys", &AnomalyVisualizer::group_keys)
      .doc("Labels or metadata columns; a plot for each of their values.");
  s.field("max_plot_samples", &AnomalyVisualizer::max_plot_samples)
      .doc("Most samples drawn, chosen fairly.")
      .at_least(1);
}

std::shared_ptr<nexuml::EvalAlgorithm> AnomalyVisualizer::build(
    const nexuml::EvalBuildContext& context) const {
  return std::make_shared<AnomalyPlotRuntime>(*this, context);
}

}  // namespace nexuml_library
