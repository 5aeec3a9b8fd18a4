#include "layers/metric_state.h"

#include <nexuml/diagnostic.h>
#include <torch/types.h>

#include <algorithm>
#include <span>
#include <string>

namespace nexuml_library {

namespace {

// Scores that leave [0, 1] are logits; others are taken for probabilities already.
bool are_logits(const at::Tensor& scores) {
  return scores.numel() > 0 && (scores.min().item<double>() < 0 || scores.max().item<double>() > 1);
}

std::string shape_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (const std::int64_t size : tensor.sizes()) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

}  // namespace

MetricState::MetricState(const MetricOptions& options)
    : options_(options),
      counts_(static_cast<std::size_t>(options.classes)),
      top_k_counts_(static_cast<std::size_t>(options.classes)),
      rankings_(static_cast<std::size_t>(options.classes)) {}

void MetricState::clear() {
  *this = MetricState(options_);
}

void MetricState::add(const at::Tensor& logits, const at::Tensor& labels,
                      const std::vector<MetricName>& wanted) {
  const bool fits =
      options_.multi_label ? labels.sizes() == logits.sizes() : labels.numel() == logits.size(0);
  if (logits.dim() != 2 || logits.size(1) != options_.classes || !fits)
    throw nexuml::Error("E853", "logits of shape " + shape_text(logits) + " and labels of shape " +
                                    shape_text(labels) + " do not belong together");
  const at::Tensor scores = logits.detach().to(at::kCPU, at::kFloat);
  const at::Tensor truth = labels.detach().to(at::kCPU);
  const bool ranks = std::ranges::find(wanted, MetricName::average_precision) != wanted.end();
  if (options_.multi_label) {
    const at::Tensor probabilities = scores.sigmoid();
    add_labels(probabilities, truth);
    if (ranks) add_ranking(probabilities, truth);
  } else {
    const at::Tensor classes = truth.to(at::kLong).flatten();
    add_classes(scores, classes);
    if (ranks)
      add_ranking(are_logits(scores) ? scores.softmax(1) : scores,
                  classes.unsqueeze(1) == at::arange(options_.classes));
  }
}

void MetricState::add_classes(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor top = std::get<1>(logits.topk(options_.top_k, 1)).contiguous();
  const at::Tensor largest = logits.argmax(1).contiguous();
  const auto* best = largest.const_data_ptr<std::int64_t>();
  const auto* candidates = top.const_data_ptr<std::int64_t>();
  const auto* truth = labels.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < labels.size(0); ++i) {
    const std::span ranked(candidates + i * options_.top_k, static_cast<std::size_t>(options_.top_k));
    const bool hit = std::ranges::find(ranked, truth[i]) != ranked.end();
    counts_.add(truth[i], best[i]);
    top_k_counts_.add(truth[i], options_.top_k > 1 && hit ? truth[i] : best[i]);
  }
}

void MetricState::add_labels(const at::Tensor& scores, const at::Tensor& labels) {
  const at::Tensor decided = (scores > 0.5).contiguous();
  const at::Tensor truth = (labels != 0).contiguous();
  const auto* predicted = decided.const_data_ptr<bool>();
  const auto* positive = truth.const_data_ptr<bool>();
  for (std::int64_t i = 0; i < decided.numel(); ++i)
    counts_.add_label(static_cast<std::size_t>(i % options_.classes), positive[i], predicted[i]);
}

void MetricState::add_ranking(const at::Tensor& scores, const at::Tensor& positives) {
  const at::Tensor by_class = scores.to(at::kDouble).t().contiguous();
  const at::Tensor truth = (positives != 0).t().to(at::kByte).contiguous();
  const auto batch = static_cast<std::size_t>(scores.size(0));
  for (std::size_t c = 0; c < rankings_.size(); ++c)
    rankings_[c].add(std::span(by_class.const_data_ptr<double>() + c * batch, batch),
                     std::span(truth.const_data_ptr<std::uint8_t>() + c * batch, batch));
}

double MetricState::value(MetricName metric) const {
  if (metric == MetricName::average_precision) return mean_average_precision();
  const AveragedClasses over = options_.multi_label ? AveragedClasses::all : AveragedClasses::present;
  if (metric == MetricName::f1) return counts_.f1(options_.average, over).value_or(0);
  if (options_.multi_label) return counts_.label_accuracy(options_.average).value_or(0);
  // With several candidates a class that was only predicted is not held against the mean.
  const AveragedClasses classes = options_.top_k > 1 ? AveragedClasses::true_only : over;
  return top_k_counts_.recall(Average::macro, classes).value_or(0);
}

bool MetricState::defined(MetricName metric) const {
  return metric != MetricName::average_precision ||
         std::ranges::any_of(rankings_, [](const auto& ranking) { return ranking.positives() > 0; });
}

// A label without positives counts as 0, a class without samples not at all: as torchmetrics has it.
double MetricState::mean_average_precision() const {
  const bool weighted = !options_.multi_label && options_.average == Average::weighted;
  double sum = 0, weights = 0;
  for (const AveragePrecisionStream& ranking : rankings_) {
    if (ranking.positives() == 0 && !options_.multi_label) continue;
    const double weight = weighted ? static_cast<double>(ranking.positives()) : 1.0;
    sum += weight * ranking.value().value_or(0);
    weights += weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace nexuml_library
