#include "checkpoint/wrapper_names.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace nexuml {

namespace {

constexpr std::size_t most_wrappers = 6;  // nested around one name

bool is_wrapper(const std::string& segment) {
  return segment == "module" || segment == "_orig_mod" || segment == "pipeline";
}

std::vector<std::string> segments_of(const std::string& name) {
  std::vector<std::string> segments;
  std::size_t begin = 0;
  for (std::size_t end = name.find('.'); end != std::string::npos; end = name.find('.', begin)) {
    segments.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  segments.push_back(name.substr(begin));
  return segments;
}

struct Found {
  std::string name;
  std::string removed;  // "_orig_mod.module."
};

// The own name that remains when as few wrappers as possible are taken out.
std::optional<Found> own_name(const std::string& name, const TensorMap& own) {
  const std::vector<std::string> segments = segments_of(name);
  std::vector<std::size_t> wrappers;
  for (std::size_t i = 0; i + 1 < segments.size(); ++i)
    if (is_wrapper(segments[i]) && wrappers.size() < most_wrappers) wrappers.push_back(i);
  std::vector<unsigned> choices(1u << wrappers.size());
  for (unsigned i = 0; i < choices.size(); ++i) choices[i] = i;
  std::stable_sort(choices.begin(), choices.end(),
                   [](unsigned left, unsigned right) { return std::popcount(left) < std::popcount(right); });
  for (const unsigned choice : choices) {
    Found found;
    for (std::size_t i = 0, w = 0; i < segments.size(); ++i) {
      const bool wrapper = w < wrappers.size() && wrappers[w] == i;
      const bool taken_out = wrapper && (choice >> w & 1u) != 0;
      if (wrapper) ++w;
      if (taken_out)
        found.removed += segments[i] + ".";
      else
        found.name += (found.name.empty() ? "" : ".") + segments[i];
    }
    if (own.contains(found.name)) return found;
  }
  return std::nullopt;
}

}  // namespace

UnwrappedWeights without_wrappers(const TensorMap& own, const TensorMap& weights, const std::string& source) {
  UnwrappedWeights result;
  std::map<std::string, int> removed;
  for (const auto& [name, tensor] : weights) {
    const auto found = own_name(name, own);
    const std::string& kept = found ? found->name : name;
    if (result.weights.contains(kept))
      throw Error("E760", fmt::format("'{}' stands twice in the file, once inside a wrapper", kept),
                  Where::in_file(source));
    if (found && !found->removed.empty()) ++removed[found->removed];
    result.weights.add(kept, tensor);
  }
  for (const auto& [prefix, count] : removed)
    result.removed.push_back(fmt::format("{} from {} names", prefix, count));
  return result;
}

}  // namespace nexuml
