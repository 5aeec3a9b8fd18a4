#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <nexuml/batch_rows.h>
#include <nexuml/diagnostic.h>

#include <catch2/catch.hpp>
#include <vector>

namespace nexuml {

TEST_CASE("a batch takes the memory of one that was freed") {
  const void* first = nullptr;
  {
    const at::Tensor batch = empty_batch({64, 4096}, at::kFloat);
    first = batch.const_data_ptr();
    CHECK(empty_batch({64, 1024}, at::kFloat).const_data_ptr() != first);  // it is in use
  }
  const at::Tensor again = empty_batch({64, 4000}, at::kFloat);
  CHECK(again.const_data_ptr() == first);
  CHECK(again.is_contiguous());
  CHECK(again.sizes() == at::IntArrayRef({64, 4000}));
}

TEST_CASE("rows are gathered whatever lies between them in memory") {
  const at::Tensor table = at::arange(40000 * 3, at::kFloat).view({40000, 3});
  const std::vector<std::int64_t> rows{39999, 0, 7, 7};
  const at::Tensor expected = table.index_select(0, at::tensor(rows, at::kLong));
  CHECK(at::equal(gather_rows(table, rows), expected));
  CHECK(at::equal(gather_rows(table.t().contiguous().t(), rows), expected));
  CHECK(gather_rows(table, {}).sizes() == at::IntArrayRef({0, 3}));
  const at::Tensor numbers = at::arange(10, at::kLong);
  CHECK(gather_rows(numbers, std::vector<std::int64_t>{3})[0].item<std::int64_t>() == 3);
}

TEST_CASE("a row that is not there is refused") {
  const at::Tensor table = at::arange(10);
  CHECK_THROWS_WITH(gather_rows(table, std::vector<std::int64_t>{2, 10}), Catch::Contains("row 10"));
  CHECK_THROWS_WITH(gather_rows(table, std::vector<std::int64_t>{-1}), Catch::Contains("row -1"));
}

}  // namespace nexuml
