#include <nexuml/tensor_io.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>

#include "tensor_io/sha256.h"
#include "tensor_io/support.h"

using namespace tensor_io_tests;
using Catch::Matchers::Contains;
using nexuml::parse_safetensors;
using nexuml::read_safetensors;
using nexuml::TensorMap;

namespace {

std::string case_file(const std::string& name) {
  return data_path("cases/C03-safetensors-offsets/" + name);
}

std::string with_header(const std::string& header, const std::string& data = {}) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string refusal_of_header(const std::string& header, const std::string& data = {}) {
  return refusal([&] { parse_safetensors(with_header(header, data), "x.safetensors"); });
}

// Every dtype that the format knows, made of the same bytes: NaNs with payloads, infinities, -0, extremes.
TensorMap tensors_of_every_dtype() {
  at::Tensor bytes = at::arange(64, at::kLong).mul(37).remainder(256).to(at::kByte);
  bytes.slice(0, 0, 8).copy_(at::tensor({0, 0, 128, 127, 0, 0, 0, 128}, at::kByte));
  TensorMap tensors;
  for (const at::ScalarType dtype :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kUInt16, at::kInt, at::kUInt32, at::kLong,
        at::kUInt64, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kFloat8_e4m3fn,
        at::kFloat8_e5m2, at::kFloat8_e4m3fnuz, at::kFloat8_e5m2fnuz, at::kFloat8_e8m0fnu}) {
    tensors.add(c10::toString(dtype),
                dtype == at::kBool ? bytes.bitwise_and(1).to(at::kBool) : bytes.view(dtype));
  }
  tensors.add("scalar", at::scalar_tensor(-0.0, at::kFloat));
  tensors.add("empty", at::empty({0, 3}, at::kShort));
  return tensors;
}

}  // namespace

TEST_CASE("a safetensors file whose header is not in data order is read") {
  const auto file = read_safetensors(case_file("header_order_ok.safetensors"));
  CHECK(file.tensors.names() == std::vector<std::string>{"b", "a"});
  CHECK(values_of<float>(file.tensors.at("a")) == std::vector<float>{0, 1});
  CHECK(values_of<float>(file.tensors.at("b")) == std::vector<float>{2, 3});
  CHECK(file.metadata == nexuml::TensorMetadata{{"format", "pt"}});
}

TEST_CASE("safetensors offsets that do not fit are refused with the tensor and both numbers") {
  const auto [name, expected] = GENERATE(table<std::string, std::vector<std::string>>({
      {"float_offsets", {"'a'", "0.0", "data_offsets"}},
      {"hole", {"'a'", "'b'", "byte 8", "byte 16"}},
      {"metadata_not_text", {"__metadata__", "'epoch'", "3"}},
      {"negative", {"'a'", "-8"}},
      {"negative_dim", {"'a'", "-2"}},
      {"overflow_shape", {"'a'", "[8589934592, 8589934592]", "16"}},
      {"overlap", {"'a'", "'b'", "byte 8", "byte 16"}},
      {"past_end", {"'b'", "byte 32", "16 bytes"}},
      {"reversed", {"'a'", "byte 0", "byte 8"}},
      {"shape_too_big", {"'a'", "[1000, 1000]", "4,000,000 bytes", "16"}},
      {"three_offsets", {"'a'", "data_offsets"}},
      {"unknown_dtype", {"'a'", "F99"}},
  }));
  CAPTURE(name);
  const std::string path = case_file(name + ".safetensors");
  for (const std::string& text :
       {refusal([&] { read_safetensors(path); }), refusal([&] { read_safetensors(path, {.mapped = true}); }),
        refusal([&] { nexuml::inspect_safetensors(path); }),
        refusal([&] { parse_safetensors(file_bytes(path), path); })}) {
    CHECK_THAT(text, Contains(path) && Contains("E752"));
    for (const std::string& part : expected) CHECK_THAT(text, Contains(part));
  }
}

TEST_CASE("a safetensors header that is no header is refused") {
  CHECK_THAT(refusal_of_header("[]"), Contains("E752"));
  CHECK_THAT(refusal_of_header("{"), Contains("E752"));
  CHECK_THAT(refusal_of_header(std::string("{\"\xff\":1}")), Contains("E752"));
  CHECK_THAT(refusal_of_header(R"({"a":3})"), Contains("'a'"));
  CHECK_THAT(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                               R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                               "1234"),
             Contains("a") && Contains("E704"));
  CHECK_THAT(refusal_of_header(R"({"a":{"dtype":"F32","shape":[1e0],"data_offsets":[0,4]}})", "1234"),
             Contains("'a'"));
  CHECK_THAT(refusal_of_header(R"({"a":{"dtype":"F32","shape":[0,4611686018427387904,4611686018427387904],)"
                               R"("data_offsets":[0,0]}})"),
             Contains("impossible shape"));
  CHECK_THAT(refusal_of_header(R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})",
                               "1234"),
             Contains("E752"));
  CHECK_THAT(refusal_of_header("{}", "trailing"), Contains("8 bytes after the last tensor"));
}

TEST_CASE("every problem of a safetensors header is reported at once") {
  const std::string text =
      refusal_of_header(R"({"a":{"dtype":"F99","shape":[-1],"data_offsets":[0]},"b":7})");
  CHECK_THAT(text, Contains("F99") && Contains("-1") && Contains("data_offsets") && Contains("'b'"));
}

TEST_CASE("what is no safetensors file is named for what it is") {
  const TemporaryFolder folder;
  const auto reason = [&](const std::string& name, std::string_view bytes) {
    const std::string path = folder.write(name, bytes);
    return refusal([&] { read_safetensors(path); });
  };
  CHECK_THAT(reason("empty", ""), Contains("empty") && Contains("it is empty") && Contains("0 bytes"));
  CHECK_THAT(reason("page", "<!DOCTYPE html><html><body>Not found</body></html>"),
             Contains("looks like HTML"));
  CHECK_THAT(reason("zip", "PK\x03\x04 and so on"), Contains("zip archive"));
  CHECK_THAT(reason("lfs", "version https://git-lfs.github.com/spec/v1\noid"), Contains("Git LFS pointer"));
  CHECK_THAT(reason("tiny", "abc"), Contains("3 bytes"));
  CHECK_THAT(reason("big", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)), Contains("header"));
  CHECK_THAT(refusal([&] { read_safetensors(folder.file("missing")); }),
             Contains("E750") && Contains("missing"));
  CHECK_THAT(refusal([&] { read_safetensors(folder.path()); }), Contains("directory"));
}

TEST_CASE("a link to weights that are gone names the link and its target") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/nowhere/run7/a.safetensors", folder.file("latest"));
  std::filesystem::create_symlink("loop", folder.file("loop"));
  CHECK_THAT(refusal([&] { read_safetensors(folder.file("latest")); }),
             Contains("latest") && Contains("/nowhere/run7/a.safetensors") && Contains("does not exist"));
  CHECK_THAT(refusal([&] { read_safetensors(folder.file("loop")); }), Contains("link loop"));
}

TEST_CASE("a safetensors file of the safetensors package is written again with identical bytes") {
  for (const std::string name : {"all_dtypes.safetensors", "no_tensors.safetensors"}) {
    const std::string bytes = file_bytes(data_path("tensor_io/" + name));
    const auto file = parse_safetensors(bytes, name);
    CHECK(nexuml::format_safetensors(file.tensors, file.metadata) == bytes);
  }
}

TEST_CASE("every dtype survives a safetensors file bit for bit, copied and mapped") {
  const TemporaryFolder folder;
  const TensorMap tensors = tensors_of_every_dtype();
  const auto written = nexuml::write_safetensors(folder.file("a"), tensors, {{"key", "größe"}});
  const bool mapped = GENERATE(false, true);
  const auto file = read_safetensors(folder.file("a"), {.mapped = mapped, .hash = true});
  REQUIRE(file.tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name, mapped);
    CHECK(same_bits(file.tensors.at(name), tensor));
  }
  CHECK(file.metadata.at("key") == "größe");
  CHECK(file.sha256 == written.sha256);
  CHECK(written.size == std::filesystem::file_size(folder.file("a")));
  CHECK(written.sha256 == nexuml::tensor_io::sha256_hex(file_bytes(folder.file("a"))));
}

TEST_CASE("safetensors bytes do not depend on the order in which tensors were added") {
  const TensorMap forward{{"a", at::ones(2)}, {"b", at::zeros(1, at::kLong)}};
  const TensorMap backward{{"b", at::zeros(1, at::kLong)}, {"a", at::ones(2)}};
  CHECK(nexuml::format_safetensors(forward) == nexuml::format_safetensors(backward));
}

TEST_CASE("strided, conjugated and gradient-tracking tensors are written by value") {
  const at::Tensor base = at::arange(6, at::kFloat).reshape({2, 3});
  const at::Tensor complex = at::complex(base, base + 1);
  const TensorMap tensors{{"transposed", base.t()},
                          {"expanded", at::ones(1).expand({4})},
                          {"conjugated", complex.conj()},
                          {"tracked", base.clone().requires_grad_()}};
  const auto file = parse_safetensors(nexuml::format_safetensors(tensors), "x");
  CHECK(at::equal(file.tensors.at("transposed"), base.t()));
  CHECK(at::equal(file.tensors.at("expanded"), at::ones(4)));
  CHECK(at::equal(file.tensors.at("conjugated"), complex.conj()));
  CHECK_FALSE(file.tensors.at("tracked").requires_grad());
}

TEST_CASE("what has no plain bytes is refused by name before anything is written") {
  const TemporaryFolder folder;
  const auto reason = [&](const at::Tensor& tensor) {
    return refusal([&] {
      nexuml::write_safetensors(folder.file("a"), {{"fine", at::ones(1)}, {"odd", tensor}});
    });
  };
  CHECK_THAT(reason({}), Contains("'odd'") && Contains("undefined"));
  CHECK_THAT(reason(at::ones({2, 2}).to_sparse()), Contains("'odd'") && Contains("sparse"));
  CHECK_THAT(reason(at::empty({2}, at::device(at::kMeta))), Contains("'odd'") && Contains("meta"));
  CHECK_THAT(reason(at::zeros(1, at::kComplexDouble)), Contains("complex128") && Contains("view_as_real"));
  CHECK_THAT(refusal([&] {
               nexuml::write_safetensors(folder.file("a"), {{"\xff", at::ones(1)}});
             }),
             Contains("UTF-8"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("tensors of a mapped file can be changed and outlive everything else") {
  const TemporaryFolder folder;
  nexuml::write_safetensors(folder.file("a"), {{"w", at::ones(1000)}});
  const std::string before = file_bytes(folder.file("a"));
  const at::Tensor weight = read_safetensors(folder.file("a"), {.mapped = true}).tensors.at("w");
  weight.add_(1);
  CHECK(weight.sum().item<float>() == 2000);
  CHECK(file_bytes(folder.file("a")) == before);
}

TEST_CASE("the header of a safetensors file is inspected without its data") {
  const auto header = nexuml::inspect_safetensors(data_path("tensor_io/all_dtypes.safetensors"));
  CHECK(header.tensors.size() == 22);
  CHECK(header.tensors.front().name == "t.uint64");
  CHECK(header.tensors.front().shape == std::vector<std::int64_t>{6});
  CHECK(header.tensors.front().end == 48);
  CHECK(header.metadata.at("format") == "pt");
}

TEST_CASE("a safetensors file cut at any length is refused") {
  const std::string bytes =
      nexuml::format_safetensors({{"a", at::ones({2, 3})}, {"b", at::zeros(3, at::kByte)}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK(!refusal([&] { parse_safetensors(std::string_view(bytes).substr(0, length), "x"); }).empty());
  }
}

TEST_CASE("no flipped bit in a safetensors header makes a tensor reach outside the file") {
  const std::string bytes =
      nexuml::format_safetensors({{"a", at::ones({2, 3})}, {"b", at::zeros(3, at::kByte)}});
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    refusal([&] {
      for (const auto& [name, tensor] : parse_safetensors(flipped, "x").tensors)
        CHECK(tensor.nbytes() <= bytes.size());
    });
  }
}

TEST_CASE("tensors that are the same view form groups") {
  const at::Tensor base = at::arange(12, at::kFloat).reshape({4, 3});
  const TensorMap tensors{{"embed", base},         {"other", at::ones(1)}, {"head", base},
                          {"flat", base.view(-1)}, {"row", base[0]},       {"again", base[0]},
                          {"e1", at::empty(0)},    {"e2", at::empty(0)}};
  CHECK(nexuml::find_shared(tensors) ==
        std::vector<std::vector<std::string>>{{"embed", "head"}, {"row", "again"}});
}

TEST_CASE("a tensor map refuses a name twice and names what is near") {
  TensorMap tensors{{"fc.weight", at::ones(1)}};
  CHECK_THAT(refusal([&] { tensors.add("fc.weight", at::ones(1)); }),
             Contains("E754") && Contains("fc.weight"));
  CHECK_THAT(refusal([&] { tensors.at("fc.weigth"); }), Contains("fc.weigth") && Contains("fc.weight"));
}
