#include "data/split.h"

#include <nexuml/tensor_io.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

namespace nexuml {
namespace {

using Rows = std::vector<std::int64_t>;

Rows rows_to(std::int64_t n) {
  Rows rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

Rows all_of(const Splits& splits) {
  Rows rows = splits.train;
  rows.insert(rows.end(), splits.val.begin(), splits.val.end());
  rows.insert(rows.end(), splits.test.begin(), splits.test.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

Splits split(std::int64_t n, const std::vector<std::string>& assigned, const std::string& type,
             SplitFractions fractions = {}) {
  Splits splits;
  append_split(splits, rows_to(n), assigned, type, fractions, "data.datasets[0]");
  return splits;
}

}  // namespace

TEST_CASE("data that assigns no split is divided by the original's permutation") {
  const TensorMap recorded =
      read_safetensors(NEXUML_TEST_DATA "/train/synthetic-linear-ae-multiclass.data.safetensors").tensors;
  const auto recorded_rows = [&](const char* name) {
    const at::Tensor rows = recorded.at(name);
    return Rows(rows.const_data_ptr<std::int64_t>(), rows.const_data_ptr<std::int64_t>() + rows.numel());
  };
  const Splits splits = split(400, {}, "fit");
  CHECK(splits.train == recorded_rows("split.train"));
  CHECK(splits.val == recorded_rows("split.val"));
  CHECK(splits.test == recorded_rows("split.test"));
}

TEST_CASE("shares are rounded down and the rest tests") {
  const Splits splits = split(208, {}, "fit");
  CHECK(splits.train.size() == 145);
  CHECK(splits.val.size() == 31);
  CHECK(splits.test.size() == 32);
  CHECK(all_of(splits) == rows_to(208));
}

TEST_CASE("a literal split type sends every row there") {
  CHECK(split(5, {}, "test").test == rows_to(5));
  CHECK(split(5, {"train", "train", "val", "test", "fit"}, "train").train == rows_to(5));
  CHECK(split(5, {}, "validation").val == rows_to(5));
}

TEST_CASE("a split column of the data is followed") {
  const Splits splits = split(4, {"train", "test", "valid", "train"}, "keep");
  CHECK(splits.train == Rows{0, 3});
  CHECK(splits.val == Rows{2});
  CHECK(splits.test == Rows{1});
}

TEST_CASE("rows named fit train and validate, rows named all test too") {
  const Splits fit = split(100, std::vector<std::string>(100, "fit"), "fit");
  CHECK(fit.val.size() == 15);
  CHECK(fit.train.size() == 85);
  CHECK(fit.test.empty());
  const Splits all = split(100, std::vector<std::string>(100, "all"), "keep");
  CHECK(all.val.size() == 15);
  CHECK(all.test.size() == 15);
  CHECK(all.train.size() == 70);
  CHECK(all_of(all) == rows_to(100));
}

TEST_CASE("an unknown split name is refused with its row and the names that exist") {
  try {
    split(2, {"train", "tset"}, "keep");
    FAIL("accepted");
  } catch (const Error& error) {
    const Diagnostic& problem = error.diagnostics().entries().front();
    CHECK(problem.code == "E835");
    CHECK(problem.message.find("row 1") != std::string::npos);
    CHECK(problem.message.find("'tset'") != std::string::npos);
    CHECK(problem.hint.find("test") != std::string::npos);
  }
}

TEST_CASE("a random subset is the same every time, sorted and without repetition") {
  const Rows subset = random_subset(1000, 100);
  CHECK(subset == random_subset(1000, 100));
  CHECK(subset.size() == 100);
  CHECK(std::is_sorted(subset.begin(), subset.end()));
  CHECK(std::adjacent_find(subset.begin(), subset.end()) == subset.end());
}

}  // namespace nexuml
