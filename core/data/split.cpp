#include "data/split.h"

#include <ATen/ops/randperm.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/random.h"

namespace nexuml {

namespace {

using Rows = std::vector<std::int64_t>;

Rows permutation(std::int64_t n) {
  const at::Tensor order = at::randperm(n, generator_of(split_seed), at::kLong);
  const auto* data = order.data_ptr<std::int64_t>();
  return {data, data + n};
}

void append(Rows& target, const Rows& rows, const Rows& order, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i)
    target.push_back(rows[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
}

void divide(Splits& splits, const Rows& rows, double train_fraction, double val_fraction) {
  const auto n = static_cast<std::int64_t>(rows.size());
  const Rows order = permutation(n);
  const auto train = static_cast<std::int64_t>(static_cast<double>(n) * train_fraction);
  const auto val = std::min(static_cast<std::int64_t>(static_cast<double>(n) * val_fraction), n - train);
  append(splits.train, rows, order, 0, train);
  append(splits.val, rows, order, train, train + val);
  append(splits.test, rows, order, train + val, n);
}

// Rows `fit`: round(n * val) validate, the rest trains.
void divide_fit(Splits& splits, const Rows& rows, double val_fraction) {
  const auto n = static_cast<std::int64_t>(rows.size());
  const Rows order = permutation(n);
  const auto val = std::llrint(static_cast<double>(n) * val_fraction);
  append(splits.val, rows, order, 0, val);
  append(splits.train, rows, order, val, n);
}

// Rows `all`: round(n * val) validate; of the others the share test / (train + test) tests.
void divide_all(Splits& splits, const Rows& rows, const SplitFractions& fractions) {
  const auto n = static_cast<std::int64_t>(rows.size());
  const Rows order = permutation(n);
  const auto val = std::llrint(static_cast<double>(n) * fractions.val);
  const double others = fractions.train + fractions.test;
  const auto test =
      others > 0 ? std::llrint(static_cast<double>(n - val) * fractions.test / others) : std::int64_t{0};
  append(splits.val, rows, order, 0, val);
  append(splits.test, rows, order, val, val + test);
  append(splits.train, rows, order, val + test, n);
}

std::string canonical_split(const std::string& name) {
  return name.find("val") != std::string::npos ? "val" : name;
}

void append_assigned(Splits& splits, const Rows& rows, const std::vector<std::string>& names,
                     const SplitFractions& fractions, const std::string& key_path) {
  Rows fit, all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = canonical_split(names[i]);
    if (name == "train")
      splits.train.push_back(rows[i]);
    else if (name == "val")
      splits.val.push_back(rows[i]);
    else if (name == "test")
      splits.test.push_back(rows[i]);
    else if (name == "fit")
      fit.push_back(rows[i]);
    else if (name == "all")
      all.push_back(rows[i]);
    else {
      Where where;
      where.key_path = key_path;
      throw Error("E835",
                  fmt::format("row {} belongs to a split named '{}'; known are train, val, test, fit and all",
                              i, names[i]),
                  where, did_you_mean(names[i], {"train", "val", "test", "fit", "all"}));
    }
  }
  divide_fit(splits, fit, fractions.val);
  divide_all(splits, all, fractions);
}

}  // namespace

void append_split(Splits& splits, const std::vector<std::int64_t>& rows,
                  const std::vector<std::string>& assigned, const std::string& split_type,
                  const SplitFractions& fractions, const std::string& key_path) {
  const bool follows = split_type == "fit" || split_type == "keep";
  if (assigned.empty() && (follows || split_type == "all"))
    divide(splits, rows, fractions.train, fractions.val);
  else if (follows)
    append_assigned(splits, rows, assigned, fractions, key_path);
  else
    append_assigned(splits, rows, std::vector<std::string>(rows.size(), split_type), fractions,
                    key_path + ".split_type");
}

std::vector<std::int64_t> random_subset(std::int64_t n, std::int64_t count) {
  Rows order = permutation(n);
  order.resize(static_cast<std::size_t>(std::min(n, count)));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace nexuml
