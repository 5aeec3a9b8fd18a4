// Tensors, dtypes and devices in recipes: every bit back, nothing hostile accepted.
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <nexuml/tensor_serializers.h>
#include <nexuml/testing/round_trips.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "tensor_io/base64.h"
#include "tensor_io/dtypes.h"

using namespace nexuml;
using Catch::Contains;
using nexuml::testing::round_trips;

namespace {

using TensorJson = TypeSerializer<at::Tensor>;

// Through bytes, as a file has them.
at::Tensor reread(const at::Tensor& tensor) {
  Diagnostics problems;
  const Value parsed = parse_json(write_json(TensorJson::to_value(tensor)), "tensor.json", problems);
  REQUIRE_FALSE(problems.has_errors());
  return TensorJson::from_value(parsed);
}

bool same_bits(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() && left.sizes() == right.sizes() &&
         (left.nbytes() == 0 || std::memcmp(left.contiguous().const_data_ptr(),
                                            right.contiguous().const_data_ptr(), left.nbytes()) == 0);
}

template <class T>
std::string refusal_of(const std::string& json) {
  Diagnostics problems;
  const Value value = parse_json(json, "value.json", problems);
  REQUIRE_FALSE(problems.has_errors());
  try {
    (void)TypeSerializer<T>::from_value(value);
  } catch (const Error& error) {
    return error.diagnostics().to_text();
  }
  return {};
}

at::Tensor from_json(const std::string& json) {
  Diagnostics problems;
  return TensorJson::from_value(parse_json(json, "value.json", problems));
}

struct Prior {
  at::Tensor mean = at::zeros({2});
  std::vector<at::Tensor> parts;
  std::map<std::string, at::ScalarType> dtypes{{"a", at::kHalf}};
  std::optional<at::Device> device;
  at::ScalarType dtype = at::kFloat;

  static void describe(Schema<Prior>& s) {
    s.field("mean", &Prior::mean);
    s.field("parts", &Prior::parts);
    s.field("dtypes", &Prior::dtypes);
    s.field("device", &Prior::device);
    s.field("dtype", &Prior::dtype);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

}  // namespace

TEST_CASE("tensors of every dtype keep every bit in a recipe") {
  std::vector<std::byte> pattern(256);
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i * 37 + 11);
  for (const auto& names : tensor_io::all_dtypes()) {
    INFO(names.torch);
    at::Tensor tensor = at::empty({4, 2}, at::TensorOptions().dtype(names.dtype));
    std::memcpy(tensor.data_ptr(), pattern.data(), tensor.nbytes());
    if (names.dtype == at::kBool) std::memset(tensor.data_ptr(), 1, tensor.nbytes());
    CHECK(same_bits(reread(tensor), tensor));
    CHECK(same_bits(reread(tensor.t()), tensor.t()));
    CHECK(same_bits(reread(tensor.slice(0, 0, 0)), tensor.slice(0, 0, 0)));
  }
}

TEST_CASE("NaN payloads, infinities, minus zero, extremes of int64, empty tensors and scalars survive") {
  const double special[] = {std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            -0.0,
                            std::numeric_limits<double>::denorm_min()};
  at::Tensor doubles = at::empty({6}, at::kDouble);
  std::memcpy(doubles.data_ptr(), special, sizeof(special));
  CHECK(same_bits(reread(doubles), doubles));
  const at::Tensor extremes = at::tensor(
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}, at::kLong);
  CHECK(same_bits(reread(extremes), extremes));
  for (const at::Tensor& tensor :
       {at::full({}, 2.5), at::zeros({0}), at::zeros({3, 0}), at::zeros({0, 3, 2})})
    CHECK(same_bits(reread(tensor), tensor));
  const at::Tensor complex = at::full({2}, c10::complex<double>(1, -2), at::kComplexDouble);
  CHECK(same_bits(reread(complex.conj()), complex.conj().resolve_conj()));
}

TEST_CASE("a tensor is written as dtype, shape and base64") {
  CHECK(write_json(TensorJson::to_value(at::tensor({1.0f, 2.0f})), {.indent = -1}) ==
        R"({"dtype":"torch.float32","shape":[2],"data":"AACAPwAAAEA="})");
}

TEST_CASE("nested lists of numbers are read, and checked against dtype and shape") {
  CHECK(same_bits(from_json(R"({"dtype": "torch.float32", "shape": [2, 2], "data": [[1, 2.5], [-0.0, 4]]})"),
                  at::tensor({1.0f, 2.5f, -0.0f, 4.0f}).view({2, 2})));
  CHECK(same_bits(from_json(R"({"dtype": "torch.int64", "shape": [], "data": -7})"),
                  at::full({}, -7, at::kLong)));
  CHECK(same_bits(from_json(R"({"dtype": "torch.bool", "shape": [1], "data": [true]})"),
                  at::ones({1}, at::kBool)));
  for (const auto& [json, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"dtype": "torch.int64", "shape": [1], "data": [1.7]})", "whole number"},
           {R"({"dtype": "torch.uint8", "shape": [1], "data": [256]})", "out of the range"},
           {R"({"dtype": "torch.uint8", "shape": [1], "data": [-1]})", "out of the range"},
           {R"({"dtype": "torch.float16", "shape": [1], "data": [1e6]})", "out of the range"},
           {R"({"dtype": "torch.float32", "shape": [1], "data": [null]})", "NaN"},
           {R"({"dtype": "torch.float32", "shape": [1], "data": [true]})", "number expected"},
           {R"({"dtype": "torch.bool", "shape": [1], "data": [1]})", "true or false"},
           {R"({"dtype": "torch.complex64", "shape": [1], "data": ["1+2j"]})", "base64"},
           {R"({"dtype": "torch.float32", "shape": [4], "data": [[1, 2], [3, 4]]})", "a list of 4"},
           {R"({"dtype": "torch.float32", "shape": [2, 2], "data": [1, 2]})", "dimension 1"},
           {R"({"dtype": "torch.float32", "shape": [1000000000], "data": [1]})", "a list of 1000000000"}}) {
    INFO(json);
    CHECK_THAT(refusal_of<at::Tensor>(json), Contains("E744") && Contains(words));
  }
}

TEST_CASE("a tensor that is malformed or hostile is refused before anything is allocated") {
  for (const char* json :
       {R"(3)", R"([])", R"({})", R"({"dtype": "torch.float32", "shape": [1]})",
        R"({"dtype": "torch.float32", "data": ""})", R"({"dtype": 1, "shape": [0], "data": ""})",
        R"({"dtype": "torch.float32", "shape": [0], "data": "", "device": "cuda"})",
        R"({"dtype": "torch.float32", "shape": [-1], "data": ""})",
        R"({"dtype": "torch.float32", "shape": [1.0], "data": "AAAAAA=="})",
        R"({"dtype": "torch.float32", "shape": [4611686018427387904, 4], "data": ""})",
        R"({"dtype": "torch.float32", "shape": [1], "data": "AAAAA==="})",
        R"({"dtype": "torch.float32", "shape": [1], "data": "AAAAAB=="})",
        R"({"dtype": "torch.float32", "shape": [1], "data": "AAAA AA="})",
        R"({"dtype": "torch.float32", "shape": [1], "data": "AAAA"})",
        R"({"dtype": "torch.float32", "shape": [1], "data": "????????"})",
        R"({"dtype": "torch.float32", "shape": [1], "data": null})"}) {
    INFO(json);
    CHECK_THAT(refusal_of<at::Tensor>(json), Contains("E744"));
  }
}

TEST_CASE("a dtype is one of a closed list: hostile strings reach nothing") {
  CHECK(TypeSerializer<at::ScalarType>::to_value(at::kBFloat16) == Value("torch.bfloat16"));
  for (const auto& [text, dtype] :
       std::initializer_list<std::pair<const char*, at::ScalarType>>{{"torch.float32", at::kFloat},
                                                                     {"int64", at::kLong},
                                                                     {"torch.half", at::kHalf},
                                                                     {"double", at::kDouble}})
    CHECK(TypeSerializer<at::ScalarType>::from_value(Value(text)) == dtype);
  for (const char* json : {R"("torch.os")", R"("torch.load")", R"("torch.torch.float32")", R"("__class__")",
                           R"("")", R"("torch.")", "3", "null", "[]"})
    CHECK_THAT(refusal_of<at::ScalarType>(json), Contains("E744"));
  CHECK_THAT(refusal_of<at::ScalarType>(R"("torch.flaot32")"), Contains("torch.float32"));
}

TEST_CASE("a device is a known kind with an index, whether it exists or not") {
  for (const char* text : {"cpu", "cuda", "cuda:0", "cuda:7", "mps", "meta"})
    CHECK(TypeSerializer<at::Device>::to_value(TypeSerializer<at::Device>::from_value(Value(text))) ==
          Value(text));
  for (const char* json : {R"("gpu")", R"("cuda:")", R"("cuda:-1")", R"("cuda:01")", R"("cuda:1x")",
                           R"("cuda:999")", R"("cuda:0:1")", R"("")", "0"})
    CHECK_THAT(refusal_of<at::Device>(json), Contains("E744"));
}

TEST_CASE("sparse tensors are refused by name") {
  CHECK_THROWS_WITH(TensorJson::to_value(at::ones({2, 2}).to_sparse()), Contains("sparse"));
}

TEST_CASE("arguments with tensors, dtypes and devices go through a recipe, also in containers") {
  const auto registry =
      ComponentRegistry().with_program([](Registration& r) { r.add_target<Prior>("acme:Prior"); });
  Prior prior;
  prior.mean = at::full({2, 1}, std::numeric_limits<float>::quiet_NaN());
  prior.parts = {at::arange(3), at::zeros({0}, at::kBFloat16)};
  prior.device = at::Device(at::kCUDA, 1);
  prior.dtype = at::kLong;
  CHECK(round_trips(prior));
  CHECK(round_trips(prior, registry));
  const Recipe recipe = create_model_spec(registry, prior);
  CHECK(recipe.fields().at("dtype") == Value("torch.int64"));
  CHECK(recipe.fields().at("device") == Value("cuda:1"));
  const auto model = registry.make<TargetKind::module>(recipe.target(), Value::list(), recipe.arguments());
  const auto& typed = *static_cast<const Prior*>(model->value());
  CHECK(same_bits(typed.mean, prior.mean));
  CHECK(same_bits(typed.parts[0], prior.parts[0]));
  CHECK_THROWS_WITH(
      create_model_spec(registry, "acme.Prior", {{"dtypes", Value::map({{"x", "torch.system"}})}}),
      Contains("dtypes.x") && Contains("torch.dtype"));
  CHECK_THROWS_WITH(ComponentRegistry().with_program([](Registration& r) {
    r.add_type_serializer<Prior>(
        "torch.Tensor", [](const Prior&) { return Value(); }, [](const Value&) { return Prior(); });
  }),
                    Contains("built in"));
}

TEST_CASE("large tensors of a recipe move into a tensor file and back") {
  const auto registry =
      ComponentRegistry().with_program([](Registration& r) { r.add_target<Prior>("acme:Prior"); });
  Prior prior;
  prior.parts = {at::arange(1000, at::kFloat), at::arange(2, at::kFloat)};
  const Recipe recipe = create_model_spec(registry, prior);
  TensorMap tensors;
  const Value light = without_large_tensors(recipe.to_value(), 1000, tensors);
  CHECK(tensors.names() == std::vector<std::string>{"parts[0]"});
  CHECK(write_json(light).size() < 1000);
  CHECK(create_model_spec_from_json(registry, with_tensors(light, tensors)) == recipe);
  CHECK_THROWS_WITH(with_tensors(light, {}), Contains("parts[0]"));
  CHECK_THROWS_WITH(with_tensors(light, TensorMap{{"parts[0]", at::zeros({3})}}),
                    Contains("another dtype or shape"));
}

TEST_CASE("what is already typed goes through a recipe as what was read from a file does") {
  const auto registry =
      ComponentRegistry().with_program([](Registration& r) { r.add_target<Prior>("acme:Prior"); });
  Prior prior;
  prior.parts = {at::arange(3, at::kFloat)};
  const Recipe typed = create_model_spec(registry, prior);
  const Recipe read = create_model_spec_from_json(registry, typed.to_json(), "prior.json");
  CHECK(read == typed);
  CHECK(create_model_spec(registry, "acme.Prior", typed.fields()) == typed);
  CHECK(create_model_spec(registry, "acme.Prior", read.arguments()) == typed);
  const Value once = TensorJson::to_value(prior.parts[0]);
  CHECK(TensorJson::to_value(TensorJson::from_value(TensorJson::to_value(TensorJson::from_value(once)))) ==
        once);
}

TEST_CASE("base64 has one text for each sequence of bytes") {
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 91 + size);
    const std::string text = tensor_io::to_base64(bytes);
    CHECK((tensor_io::from_base64(text) == bytes));
    CHECK_FALSE(tensor_io::from_base64(text + "=").has_value());
    CHECK_FALSE(tensor_io::from_base64(" " + text).has_value());
  }
}
