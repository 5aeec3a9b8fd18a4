#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <nexuml/storage.h>
#include <nexuml/tensor_dict.h>

#include <catch2/catch.hpp>

#include "compile/fake_layers.h"

using namespace nexuml;

TEST_CASE("a tensor dict keeps the order of its keys and replaces in place") {
  TensorDict dict{{"b", at::zeros({2})}, {"a", at::ones({2})}};
  dict.set("b", at::ones({3}));
  CHECK(dict.keys() == std::vector<std::string>{"b", "a"});
  CHECK(dict.get("b").size(0) == 3);
  CHECK(dict.erase("b"));
  CHECK_FALSE(dict.erase("b"));
  CHECK(dict.size() == 1);
}

TEST_CASE("a missing key is an error that names the keys that exist and the near one") {
  const TensorDict dict{{"latent", at::zeros({2})}, {"features", at::zeros({2})}};
  const auto problems = fake::thrown_by([&] { (void)dict.get("latnt"); });
  CHECK(fake::codes(problems) == "E801");
  CHECK(problems.to_text().find("latent, features") != std::string::npos);
  CHECK(problems.entries()[0].hint.find("latent") != std::string::npos);
}

TEST_CASE("the batch size is the first dimension of the first tensor that has one") {
  CHECK(TensorDict{}.batch_size() == 0);
  CHECK(TensorDict{{"loss", at::zeros({})}, {"x", at::zeros({5, 2})}}.batch_size() == 5);
}

TEST_CASE("every dtype that definitions can name survives the way to LibTorch and back") {
  for (int i = 0; i <= static_cast<int>(DType::float64); ++i) {
    const auto dtype = static_cast<DType>(i);
    CHECK(dtype_of(scalar_type(dtype)) == dtype);
    CHECK(c10::toString(scalar_type(dtype)) != nullptr);
  }
  CHECK(fake::codes(fake::thrown_by([] { (void)dtype_of(at::kComplexFloat); })) == "E801");
}

TEST_CASE("shared storage copies into the tensor that is there when the layout agrees") {
  SharedStorage storage;
  storage.set("centre", at::zeros({2}));
  const at::Tensor held = storage.get("centre");
  storage.set("centre", at::ones({2}));
  CHECK(held.sum().item<double>() == 2);
  storage.set("centre", at::ones({3}));
  CHECK(held.size(0) == 2);
  CHECK(storage.get("centre").size(0) == 3);
  CHECK_FALSE(storage.get("nobody").defined());
}

TEST_CASE("shared storage appends rows and forgets what is cleared") {
  SharedStorage storage;
  storage.append("rows", at::ones({2, 3}));
  storage.append("rows", at::zeros({1, 3}));
  CHECK(storage.get("rows").sizes() == at::IntArrayRef({3, 3}));
  storage.clear("rows");
  CHECK_FALSE(storage.get("rows").defined());
  storage.set("other", at::ones({1}));
  storage.clear();
  CHECK(storage.keys().empty());
}

TEST_CASE("a ring buffer of five rows wraps after two writes of three") {
  SharedStorage storage;
  storage.set("memory", at::zeros({5, 2}));
  std::int64_t row = storage.set_ring_buffer("memory", at::ones({3, 2}) * 2, 0);
  CHECK(row == 3);
  row = storage.set_ring_buffer("memory", at::ones({3, 2}) * 3, row);
  CHECK(row == 1);
  CHECK(storage.get("memory").select(1, 0).sum().item<double>() == 3 * 3 + 2 * 2);
}

TEST_CASE("a ring buffer refuses what does not fit") {
  SharedStorage storage;
  CHECK(fake::codes(fake::thrown_by([&] { storage.set_ring_buffer("none", at::ones({1}), 0); })) == "E821");
  storage.set("memory", at::zeros({2, 2}));
  CHECK(fake::codes(fake::thrown_by([&] {
          storage.set_ring_buffer("memory", at::ones({3, 2}), 0);
        })) == "E821");
  CHECK(fake::codes(fake::thrown_by([&] {
          storage.set_ring_buffer("memory", at::ones({1, 4}), 0);
        })) == "E821");
  CHECK(fake::codes(fake::thrown_by([&] {
          storage.set_ring_buffer("memory", at::ones({1, 2}), 2);
        })) == "E821");
}
