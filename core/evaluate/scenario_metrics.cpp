#include "evaluate/scenario_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nexuml {

namespace {

at::Tensor doubles(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble);
}

// The rate behind pauc_: 10 in pauc_10.
std::optional<double> percent_of(std::string_view metric) {
  constexpr std::string_view prefix = "pauc_";
  if (!metric.starts_with(prefix)) return std::nullopt;
  metric.remove_prefix(prefix.size());
  int percent = 0;
  const auto [end, failure] = std::from_chars(metric.data(), metric.data() + metric.size(), percent);
  if (failure != std::errc{} || end != metric.data() + metric.size() || percent < 1 || percent > 100)
    return std::nullopt;
  return percent / 100.0;
}

bool is_known(const std::string& metric) {
  static const std::vector<std::string> names{"mse", "mae", "r2", "accuracy", "f1", "auc"};
  return std::find(names.begin(), names.end(), metric) != names.end() || percent_of(metric).has_value();
}

// [batch, classes] against one class number a row.
bool is_classes(const at::Tensor& prediction, const at::Tensor& truth) {
  return prediction.dim() == 2 && prediction.size(1) > 1 && truth.numel() == prediction.size(0);
}
bool is_several_labels(const at::Tensor& prediction, const at::Tensor& truth) {
  return prediction.dim() == 2 && truth.sizes() == prediction.sizes() &&
         (truth.eq(0) | truth.eq(1)).all().item<bool>();
}

}  // namespace

void NumberErrors::add(const at::Tensor& prediction, const at::Tensor& truth) {
  const std::int64_t batch = truth.size(0);
  if (batch == 0 || prediction.numel() != truth.numel()) return;
  const at::Tensor expected = doubles(truth).reshape({batch, -1});
  const at::Tensor error = doubles(prediction).reshape({batch, -1}) - expected;
  const auto sum_up = [](at::Tensor& total, const at::Tensor& values) {
    const at::Tensor sum = values.sum(0);
    total = total.defined() ? total + sum : sum;
  };
  sum_up(squared_, error.square());
  sum_up(absolute_, error.abs());
  sum_up(sum_, expected);
  sum_up(sum_of_squares_, expected.square());
  rows_ += batch;
  count_ += expected.numel();
}

std::optional<double> NumberErrors::mse() const {
  return count_ == 0 ? std::nullopt
                     : std::optional(squared_.sum().item<double>() / static_cast<double>(count_));
}
std::optional<double> NumberErrors::mae() const {
  return count_ == 0 ? std::nullopt
                     : std::optional(absolute_.sum().item<double>() / static_cast<double>(count_));
}
// 1 - sum (y - y')^2 / sum (y - mean y)^2 of each output that varies.
std::optional<double> NumberErrors::r2() const {
  if (count_ == 0) return std::nullopt;
  const at::Tensor variation = sum_of_squares_ - sum_.square() / static_cast<double>(rows_);
  const at::Tensor varies = variation.gt(1e-12 * sum_of_squares_.clamp_min(1e-300));
  if (!varies.any().item<bool>()) return std::nullopt;
  return (1 - squared_.masked_select(varies) / variation.masked_select(varies)).mean().item<double>();
}

void ClassErrors::add(const at::Tensor& prediction, const at::Tensor& truth) {
  const auto count = [&](std::int64_t label, bool predicted, bool actual) {
    Counts& counts = counts_[label];
    counts.hits += predicted && actual;
    counts.predicted += predicted;
    counts.actual += actual;
  };
  if (is_classes(prediction, truth)) {
    const at::Tensor guessed = prediction.argmax(1).to(at::kCPU).contiguous();
    const at::Tensor actual = truth.reshape({-1}).to(at::kCPU, at::kLong).contiguous();
    for (std::int64_t row = 0; row < guessed.numel(); ++row) {
      const auto guess = guessed.const_data_ptr<std::int64_t>()[row];
      const auto label = actual.const_data_ptr<std::int64_t>()[row];
      count(guess, true, guess == label);
      if (guess != label) count(label, false, true);
      right_ += guess == label;
      ++decisions_;
    }
    return;
  }
  const at::Tensor guessed = prediction.gt(0).to(at::kCPU).contiguous();
  const at::Tensor actual = truth.gt(0.5).to(at::kCPU).contiguous();
  const std::int64_t labels = guessed.size(1);
  for (std::int64_t i = 0; i < guessed.numel(); ++i) {
    const bool guess = guessed.const_data_ptr<bool>()[i], label = actual.const_data_ptr<bool>()[i];
    count(i % labels, guess, label);
    right_ += guess == label;
    ++decisions_;
  }
}

std::optional<double> ClassErrors::accuracy() const {
  return decisions_ == 0 ? std::nullopt
                         : std::optional(static_cast<double>(right_) / static_cast<double>(decisions_));
}
// 2 hits / (predicted + actual), 0 where that is undefined; classes that nobody saw do not count.
std::optional<double> ClassErrors::f1() const {
  double sum = 0;
  std::int64_t classes = 0;
  for (const auto& [label, counts] : counts_) {
    if (counts.predicted + counts.actual == 0) continue;
    sum += 2.0 * static_cast<double>(counts.hits) / static_cast<double>(counts.predicted + counts.actual);
    ++classes;
  }
  return classes == 0 ? std::nullopt : std::optional(sum / static_cast<double>(classes));
}

void ScoreRanking::add(const at::Tensor& scores, const at::Tensor& labels) {
  if (scores.numel() != labels.numel()) return;
  const at::Tensor values = doubles(scores).reshape({-1}).contiguous();
  const at::Tensor states = doubles(labels).reshape({-1}).contiguous();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double state = states.const_data_ptr<double>()[i];
    if (state == 0 || state == 1) scored_.emplace_back(values.const_data_ptr<double>()[i], state == 1);
  }
}

std::optional<double> ScoreRanking::area(double max_fpr) const {
  std::vector<std::pair<double, bool>> ranked = scored_;
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& left, const auto& right) { return left.first > right.first; });
  double positives = 0;
  for (const auto& [score, positive] : ranked) {
    if (std::isnan(score)) return std::nullopt;
    positives += positive;
  }
  const double negatives = static_cast<double>(ranked.size()) - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  double area = 0, fpr = 0, tpr = 0;
  for (std::size_t begin = 0; begin < ranked.size() && fpr < max_fpr;) {
    std::size_t end = begin;
    double hits = 0;
    for (; end < ranked.size() && ranked[end].first == ranked[begin].first; ++end) hits += ranked[end].second;
    const double width = (static_cast<double>(end - begin) - hits) / negatives, height = hits / positives;
    // Between two thresholds the curve is a line, cut off at max_fpr.
    const double taken = std::min(width, max_fpr - fpr);
    const double reached = width > 0 ? height * taken / width : height;
    area += taken * (tpr + reached / 2);
    fpr += width;
    tpr += height;
    begin = end;
  }
  if (max_fpr >= 1) return area;
  const double least = max_fpr * max_fpr / 2;
  return 0.5 * (1 + (area - least) / (max_fpr - least));
}

ScenarioMetrics::ScenarioMetrics(const ScenarioSpec& scenario) : metrics_(scenario.evaluation.metrics) {
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (!is_known(metrics_[i])) {
      Where where;
      where.key_path = fmt::format("evaluation.metrics[{}]", i);
      throw Error("E856", fmt::format("there is no metric '{}'", metrics_[i]), where,
                  did_you_mean(metrics_[i], {"mse", "mae", "r2", "accuracy", "f1", "auc", "pauc_10"}));
    }
  find_comparisons(scenario);
  find_scores(scenario);
}

void ScenarioMetrics::find_comparisons(const ScenarioSpec& scenario) {
  const auto is_loss = [&](const std::string& key) { return scenario.training.loss_keys.contains(key); };
  for (const auto& [stage, layers] : scenario.pipeline.stages)
    for (const LayerSpec& layer : layers) {
      if (std::none_of(layer.keys_out.begin(), layer.keys_out.end(), is_loss)) continue;
      const Keys inputs = layer.input_keys(), labels = layer.label_keys();
      if (!labelled_ && inputs.size() == 1 && labels.size() == 1)
        labelled_ = Comparison{inputs[0], labels[0]};
      if (!reconstruction_ && inputs.size() >= 2 && labels.empty())
        reconstruction_ = Comparison{inputs[1], inputs[0]};
    }
}

void ScenarioMetrics::find_scores(const ScenarioSpec& scenario) {
  std::string score = "anomaly_score", label;
  for (const EvalAlgorithmSpec& algorithm : scenario.evaluation.algorithms) {
    const Value params = algorithm.algorithm->params(nullptr);
    const Value* key = params.is_map() ? params.find("score_key") : nullptr;
    if (!key || !key->is_string()) continue;
    score = key->as_string();
    label = algorithm.label_key.value_or("y_true");
    break;
  }
  for (const TargetSpec& target : scenario.data.targets)
    if (label.empty() && target.type == "anomaly") label = target.key;
  if (!label.empty()) scored_ = Comparison{score, label};
}

void ScenarioMetrics::add(const EvalBatch& batch) {
  const auto label_of = [&](const std::string& key) { return batch.y ? batch.y->find(key) : nullptr; };
  if (labelled_) {
    const at::Tensor* prediction = batch.x.find(labelled_->prediction);
    const at::Tensor* truth = label_of(labelled_->truth);
    if (prediction && truth) {
      const bool decides =
          !numbers_ && (is_classes(*prediction, *truth) || is_several_labels(*prediction, *truth));
      if (classes_ || decides) {
        if (!classes_) classes_.emplace();
        classes_->add(*prediction, *truth);
      } else {
        if (!numbers_) numbers_.emplace();
        numbers_->add(*prediction, *truth);
      }
    }
  }
  if (reconstruction_) {
    const at::Tensor* prediction = batch.x.find(reconstruction_->prediction);
    const at::Tensor* original = batch.x.find(reconstruction_->truth);
    if (prediction && original) {
      if (!reconstructed_) reconstructed_.emplace();
      reconstructed_->add(*prediction, *original);
    }
  }
  if (scored_) {
    const at::Tensor* scores = batch.x.find(scored_->prediction);
    const at::Tensor* labels = label_of(scored_->truth);
    if (scores && labels) {
      if (!ranking_) ranking_.emplace();
      ranking_->add(*scores, *labels);
    }
  }
}

OrderedMap<double> ScenarioMetrics::results() const {
  OrderedMap<double> results;
  const NumberErrors* numbers = numbers_ ? &*numbers_ : reconstructed_ ? &*reconstructed_ : nullptr;
  const auto value_of = [&](const std::string& metric) -> std::optional<double> {
    if (metric == "mse") return numbers ? numbers->mse() : std::nullopt;
    if (metric == "mae") return numbers ? numbers->mae() : std::nullopt;
    if (metric == "r2") return numbers ? numbers->r2() : std::nullopt;
    if (metric == "accuracy") return classes_ ? classes_->accuracy() : std::nullopt;
    if (metric == "f1") return classes_ ? classes_->f1() : std::nullopt;
    return ranking_ ? ranking_->area(percent_of(metric).value_or(1.0)) : std::nullopt;
  };
  for (const std::string& metric : metrics_)
    if (const auto value = value_of(metric)) results[metric] = *value;
  return results;
}

}  // namespace nexuml
