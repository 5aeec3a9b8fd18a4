#include <nexuml/diagnostic.h>

#include <algorithm>
#include <optional>

namespace nexuml {
namespace {

constexpr std::size_t longest_compared_name = 200;
constexpr std::size_t most_suggestions = 5;

// Names that differ by case, blanks, '-' or '_' alone are the same to a person.
std::string folded_name(std::string_view name) {
  std::string folded;
  for (const char letter : name) {
    if (letter == ' ' || letter == '\t' || letter == '_' || letter == '-') continue;
    folded += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return folded;
}

// Optimal string alignment distance: insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before(right.size() + 1), above(right.size() + 1), row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (left[i - 1] != right[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[right.size()];
}

// What follows the last '.', ':' or '/': `Linear` of `torch.nn:Linear`.
std::string_view last_part(std::string_view name) {
  const std::size_t separator = name.find_last_of(".:/");
  return separator == std::string_view::npos ? name : name.substr(separator + 1);
}

// The distance of two names that a person may have confused.
std::optional<std::size_t> nearness(std::string_view name, std::string_view candidate) {
  const std::string left = folded_name(name), right = folded_name(candidate);
  const std::size_t longer = std::max(left.size(), right.size());
  const std::size_t gap = longer - std::min(left.size(), right.size());
  const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
  if (gap <= allowed) {
    const std::size_t distance = edit_distance(left, right);
    if (distance <= allowed && distance < longer) return distance;
  }
  const std::string_view left_part = last_part(left), right_part = last_part(right);
  const bool has_parts = left_part.size() != left.size() || right_part.size() != right.size();
  if (has_parts && left_part.size() >= 3 && left_part == right_part) return allowed;
  const bool completes = left.size() >= 4 && right.starts_with(left);
  if (completes) return allowed + 1;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& candidates) {
  std::vector<std::pair<std::size_t, std::string>> near;
  if (name.size() <= longest_compared_name) {
    for (const std::string& candidate : candidates) {
      if (candidate.empty() || candidate.size() > longest_compared_name || candidate == name) continue;
      if (const auto distance = nearness(name, candidate)) near.emplace_back(*distance, candidate);
    }
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  if (near.size() > most_suggestions) near.resize(most_suggestions);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near) names.push_back(std::move(candidate));
  return names;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = near_names(name, candidates);
  if (names.empty()) return {};
  std::string text = "did you mean " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text + "?";
}

}  // namespace nexuml
