#include "metrics/ranking.h"

#include <nexuml/diagnostic.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace nexuml_library {

namespace {

struct ClassSizes {
  double positives = 0, negatives = 0;
};

ClassSizes class_sizes(std::span<const TiedScores> ranking) {
  std::int64_t positives = 0, count = 0;
  for (const TiedScores& tied : ranking) {
    positives += tied.positives;
    count += tied.count;
  }
  return {static_cast<double>(positives), static_cast<double>(count - positives)};
}

}  // namespace

std::vector<TiedScores> ranked(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  if (scores.size() != labels.size())
    throw nexuml::Error("E853", "scores and labels differ in length: " + std::to_string(scores.size()) +
                                    " and " + std::to_string(labels.size()));
  std::vector<std::pair<double, std::uint8_t>> pairs(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) throw nexuml::Error("E853", "score " + std::to_string(i) + " is not a number");
    pairs[i] = {scores[i], labels[i]};
  }
  std::ranges::sort(pairs, std::greater<>{}, [](const auto& pair) { return pair.first; });
  std::vector<TiedScores> ranking;
  for (const auto& [score, label] : pairs) {
    if (ranking.empty() || ranking.back().score != score) ranking.push_back({score, 0, 0});
    ranking.back().positives += label != 0;
    ++ranking.back().count;
  }
  return ranking;
}

std::optional<double> roc_auc(std::span<const TiedScores> ranking) {
  const auto [positives, negatives] = class_sizes(ranking);
  if (positives == 0 || negatives == 0) return std::nullopt;
  double area = 0, seen_positives = 0;
  for (const TiedScores& tied : ranking) {
    const auto tied_positives = static_cast<double>(tied.positives);
    area += static_cast<double>(tied.count - tied.positives) * (seen_positives + 0.5 * tied_positives);
    seen_positives += tied_positives;
  }
  return area / (positives * negatives);
}

std::optional<double> partial_auc(std::span<const TiedScores> ranking, double max_fpr) {
  if (!(max_fpr > 0 && max_fpr <= 1))
    throw nexuml::Error("E853", "max_fpr must be in (0, 1], got " + std::to_string(max_fpr));
  const auto [positives, negatives] = class_sizes(ranking);
  if (positives == 0 || negatives == 0) return std::nullopt;
  const double limit = max_fpr * negatives;  // in counts of false positives
  double area = 0, true_positives = 0, false_positives = 0;
  for (const TiedScores& tied : ranking) {
    const auto rise = static_cast<double>(tied.positives);
    const auto run = static_cast<double>(tied.count - tied.positives);
    if (false_positives + run > limit) {
      const double part = limit - false_positives;
      area += part * (true_positives + 0.5 * rise * part / run);
      break;
    }
    area += run * (true_positives + 0.5 * rise);
    true_positives += rise;
    false_positives += run;
  }
  area /= positives * negatives;
  const double chance = 0.5 * max_fpr * max_fpr;
  return 0.5 * (1 + (area - chance) / (max_fpr - chance));
}

std::optional<double> average_precision(std::span<const TiedScores> ranking) {
  const double positives = class_sizes(ranking).positives;
  if (positives == 0) return std::nullopt;
  double sum = 0, true_positives = 0, seen = 0;
  for (const TiedScores& tied : ranking) {
    const auto rise = static_cast<double>(tied.positives);
    true_positives += rise;
    seen += static_cast<double>(tied.count);
    sum += rise * true_positives / seen;
  }
  return sum / positives;
}

double best_f1(std::span<const TiedScores> ranking) {
  const double positives = class_sizes(ranking).positives;
  double best = 0, true_positives = 0, seen = 0;
  for (const TiedScores& tied : ranking) {
    true_positives += static_cast<double>(tied.positives);
    seen += static_cast<double>(tied.count);
    best = std::max(best, 2 * true_positives / (seen + positives));
  }
  return best;
}

void AveragePrecisionStream::add(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  const std::vector<TiedScores> batch = ranked(scores, labels);
  std::vector<TiedScores> merged;
  merged.reserve(ranking_.size() + batch.size());
  auto old = ranking_.begin();
  auto fresh = batch.begin();
  while (old != ranking_.end() || fresh != batch.end()) {
    if (fresh == batch.end() || (old != ranking_.end() && old->score > fresh->score)) {
      merged.push_back(*old++);
    } else if (old == ranking_.end() || fresh->score > old->score) {
      merged.push_back(*fresh++);
    } else {
      merged.push_back({old->score, old->positives + fresh->positives, old->count + fresh->count});
      ++old, ++fresh;
    }
  }
  ranking_ = std::move(merged);
  for (const TiedScores& tied : batch) positives_ += tied.positives;
}

}  // namespace nexuml_library
