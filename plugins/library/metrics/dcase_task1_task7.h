// DCASE challenge, task 1 (hierarchical classes) and task 7 (classes learned domain by domain).
#pragma once

#include <nexuml/ordered_map.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nexuml_library {

struct Task1Labels {
  std::span<const std::int64_t> top, second;
};

struct Task1Metrics {
  double top_level_accuracy = 0;
  double precision = 0, recall = 0,
         fscore = 0;  // means over the second-level classes that occur in the truth
  std::int64_t second_classes = 0, top_classes = 0;
};

// Throws Error E853 for columns of unequal length or without rows. `top_classes` counts those of the truth
// unless given.
Task1Metrics dcase_task1(const Task1Labels& truth, const Task1Labels& predicted,
                         std::optional<std::int64_t> top_classes = std::nullopt);

// Mean over the classes of the truth of the share that was found.
double balanced_accuracy(std::span<const std::int64_t> truth, std::span<const std::int64_t> predicted);

// domain_<name>_balanced_accuracy of each domain, sorted, and final_averaged_score, their mean.
nexuml::OrderedMap<double> dcase_task7(std::span<const std::int64_t> truth,
                                       std::span<const std::int64_t> predicted,
                                       std::span<const std::string> domains);

// The results of one training step after the other, as columns.
nexuml::OrderedMap<std::vector<double>> dcase_task7_table(std::span<const nexuml::OrderedMap<double>> steps);

}  // namespace nexuml_library
