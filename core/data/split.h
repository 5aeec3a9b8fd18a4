// Which rows of the data train, validate and test.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/scenario.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nexuml {

// The order of an unshuffled epoch.
struct Splits {
  std::vector<std::int64_t> train, val, test;
};

struct SplitFractions {
  double train = 0.7, val = 0.15, test = 0.15;
};

// The original's random streams: data without a split of its own is divided by a permutation seeded with 42.
inline constexpr std::uint64_t split_seed = 42;

// Appends `rows` (numbers of the joined data) to `splits`.
//
// `split_type` is DatasetSpec.split_type: a literal such as `test` sends all rows there; `keep`, and `fit`
// where the data assigns splits itself, follow `assigned` (one name per row); `all` takes its place. Names
// that contain "val" mean val. Rows named `fit` are divided in train and val, rows named `all` in train, val and test.
// Data that assigns nothing is divided in three: floor(n * train), floor(n * val), and the rest. Throws Error
// E835 for a name that is none of these.
void append_split(Splits& splits, const std::vector<std::int64_t>& rows,
                  const std::vector<std::string>& assigned, const std::string& split_type,
                  const SplitFractions& fractions, const std::string& key_path);

// The first `count` of a seeded permutation of 0..n-1, in ascending order.
std::vector<std::int64_t> random_subset(std::int64_t n, std::int64_t count);

}  // namespace nexuml
