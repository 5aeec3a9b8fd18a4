#include <nexuml/tensor_io.h>

#include <catch2/catch.hpp>

#include "tensor_io/support.h"

using namespace tensor_io_tests;
using Catch::Matchers::Contains;
using nexuml::parse_npy;
using nexuml::read_npy;

namespace {

std::string npy_file(const std::string& name) {
  return data_path("tensor_io/npy/" + name);
}

std::string npy_bytes(const std::string& literal, const std::string& data = {}) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += {static_cast<char>(literal.size() & 255), static_cast<char>(literal.size() >> 8)};
  return bytes + literal + data;
}

std::string refusal_of_literal(const std::string& literal, const std::string& data = {}) {
  return refusal([&] { parse_npy(npy_bytes(literal, data), "x.npy"); });
}

const at::Tensor& ramp() {
  static const at::Tensor tensor = at::arange(6, at::kLong).reshape({2, 3});
  return tensor;
}

}  // namespace

TEST_CASE("column-major NPY arrays come back in their own axes, copied and mapped") {
  const bool mapped = GENERATE(false, true);
  const auto read = [&](const std::string& name) {
    return read_npy(data_path("cases/D01-npy-fortran-order/" + name), {.mapped = mapped});
  };
  CHECK(at::equal(read("f2d.npy"), ramp().to(at::kFloat)));
  CHECK(at::equal(read("c2d.npy"), ramp().to(at::kFloat)));
  const at::Tensor cube = read("f3d.npy");
  CHECK(at::equal(cube, at::arange(24, at::kLong).reshape({2, 3, 4})));
  CHECK(cube.is_contiguous() == !mapped);
  CHECK(at::equal(read("f1d.npy").to(at::kDouble), at::arange(4, at::kDouble)));
}

TEST_CASE("shapes that Python 2 wrote with long integers are read") {
  CHECK(at::equal(read_npy(data_path("cases/D03-npy-python2-long/py2.npy")).to(at::kLong),
                  at::arange(6, at::kLong).reshape({3, 2})));
  CHECK(
      at::equal(read_npy(data_path("cases/D03-npy-python2-long/py2_1d.npy")), at::tensor({7, 8}, at::kInt)));
}

TEST_CASE("every numeric dtype of numpy is read and written again with identical bytes") {
  const TemporaryFolder folder;
  for (const std::string descr :
       {"b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"}) {
    CAPTURE(descr);
    const std::string path = npy_file("little_" + descr + ".npy");
    const at::Tensor tensor = read_npy(path);
    CHECK(tensor.sizes() == at::IntArrayRef({2, 3}));
    const at::Tensor expected = descr == "b1" ? ramp().remainder(2) : ramp() * 37;
    CHECK(same_bits(tensor, expected.to(tensor.scalar_type())));
    CHECK(same_bits(read_npy(path, {.mapped = true}), tensor));
    nexuml::write_npy(folder.file("again.npy"), tensor);
    CHECK(file_bytes(folder.file("again.npy")) == file_bytes(path));
  }
}

TEST_CASE("big-endian NPY arrays are read") {
  for (const std::string descr : {"i2", "u4", "f8", "c8"}) {
    CAPTURE(descr);
    const bool mapped = GENERATE(false, true);
    CHECK(same_bits(read_npy(npy_file("big_" + descr + ".npy"), {.mapped = mapped}),
                    read_npy(npy_file("little_" + descr + ".npy"))));
  }
}

TEST_CASE("scalars, empty arrays and vectors keep their shape in NPY files") {
  const TemporaryFolder folder;
  for (const std::string name : {"scalar.npy", "empty.npy", "vector.npy"}) {
    CAPTURE(name);
    const at::Tensor tensor = read_npy(npy_file(name), {.mapped = GENERATE(false, true)});
    nexuml::write_npy(folder.file(name), tensor);
    CHECK(file_bytes(folder.file(name)) == file_bytes(npy_file(name)));
  }
  CHECK(read_npy(npy_file("scalar.npy")).dim() == 0);
  CHECK(std::signbit(read_npy(npy_file("scalar.npy")).item<double>()));
  CHECK(read_npy(npy_file("empty.npy")).sizes() == at::IntArrayRef({0, 3}));
}

TEST_CASE("NPY versions 1 to 3 are read") {
  for (const std::string name : {"little_f4.npy", "version2.npy", "version3.npy"}) {
    CAPTURE(name);
    const float factor = name == "little_f4.npy" ? 37 : 1;
    CHECK(at::equal(read_npy(npy_file(name)), ramp().to(at::kFloat) * factor));
  }
}

TEST_CASE("the header of an NPY file is inspected without its data") {
  const nexuml::TensorInfo info = nexuml::inspect_npy(npy_file("little_f8.npy"));
  CHECK(info.dtype == at::kDouble);
  CHECK(info.shape == std::vector<std::int64_t>{2, 3});
  CHECK(info.end == 48);
}

TEST_CASE("NPY arrays of text, dates, objects and fields are refused for what they are") {
  const auto reason = [](const std::string& name) { return refusal([&] { read_npy(npy_file(name)); }); };
  CHECK_THAT(reason("text.npy"), Contains("text.npy") && Contains("E759") && Contains("text (dtype '<U2')"));
  CHECK_THAT(reason("dates.npy"), Contains("dates"));
  CHECK_THAT(reason("objects.npy"), Contains("Python objects"));
  CHECK_THAT(reason("fields.npy"), Contains("structured array"));
  CHECK_THAT(
      refusal_of_literal("{'descr': '<f16', 'fortran_order': False, 'shape': ()}", std::string(16, ' ')),
      Contains("<f16"));
}

TEST_CASE("NPY files that are cut off or go on are refused with both numbers") {
  const std::string bytes = file_bytes(npy_file("little_f4.npy"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_THAT(refusal([&] { parse_npy(bytes.substr(0, length), "x.npy"); }), Contains("x.npy"));
  }
  CHECK_THAT(refusal([&] { parse_npy(bytes.substr(0, 140), "x.npy"); }),
             Contains("24 bytes") && Contains("12 bytes") && Contains("cut off"));
  CHECK_THAT(refusal([&] { parse_npy(bytes + "x", "x.npy"); }), Contains("24 bytes") && Contains("25 bytes"));
  CHECK_THAT(refusal([&] { parse_npy("", "x.npy"); }), Contains("empty"));
  CHECK_THAT(refusal([&] { parse_npy("<html>Not found</html>", "x.npy"); }), Contains("HTML"));
}

TEST_CASE("NPY headers that are no literal of the right form are refused") {
  CHECK_FALSE(refusal_of_literal("").empty());
  CHECK_FALSE(refusal_of_literal("{}").empty());
  CHECK_FALSE(refusal_of_literal("{'descr': '<f4', 'fortran_order': False}").empty());
  CHECK_FALSE(refusal_of_literal("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", "1234").empty());
  CHECK_FALSE(refusal_of_literal("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}").empty());
  CHECK_FALSE(
      refusal_of_literal("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "1234").empty());
  CHECK_FALSE(
      refusal_of_literal("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "1234")
          .empty());
  CHECK_THAT(
      refusal_of_literal("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
      Contains("2^63"));
  CHECK(refusal_of_literal("{\"shape\": (1),\"descr\":'f4','fortran_order':True}", "1234").empty());
}

TEST_CASE("NPZ archives of numpy are read, compressed or not") {
  const auto stored = nexuml::read_npz(npy_file("stored.npz"));
  CHECK(stored.names() == std::vector<std::string>{"a", "b"});
  CHECK(at::equal(stored.at("a"), ramp().to(at::kFloat)));
  const auto deflated = nexuml::read_npz(npy_file("deflated.npz"));
  CHECK(at::equal(deflated.at("zeros"), at::zeros({100, 100})));
  CHECK(at::equal(deflated.at("ramp"), at::arange(1000, at::kLong)));
}

TEST_CASE("NPZ archives are written and read") {
  const TemporaryFolder folder;
  const nexuml::TensorMap tensors{
      {"a", at::rand({3, 4})}, {"größe", at::arange(5)}, {"none", at::empty({0})}};
  nexuml::write_npz(folder.file("a.npz"), tensors);
  const auto again = nexuml::read_npz(folder.file("a.npz"));
  CHECK(again.names() == tensors.names());
  for (const auto& [name, tensor] : tensors) CHECK(same_bits(again.at(name), tensor));
  CHECK_THAT(refusal([&] { nexuml::write_npy(folder.file("x"), at::ones(1, at::kBFloat16)); }),
             Contains("bfloat16") && Contains("E753"));
}

TEST_CASE("every flipped bit in the bytes of an NPZ archive is refused or harmless") {
  const std::string bytes = file_bytes(npy_file("deflated.npz"));
  const auto whole = nexuml::parse_npz(bytes, "x.npz");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    const std::string text = refusal([&] {
      for (const auto& [name, tensor] : nexuml::parse_npz(flipped, "x.npz")) {
        if (const at::Tensor* same = whole.find(name)) CHECK(same_bits(tensor, *same));
      }
    });
    refused += !text.empty();
  }
  CHECK(refused > bytes.size() / 2);
}

TEST_CASE("an NPZ archive cut at any length is refused") {
  const std::string bytes = file_bytes(npy_file("stored.npz"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(refusal([&] { nexuml::parse_npz(bytes.substr(0, length), "x.npz"); }).empty());
  }
}

TEST_CASE("an NPZ file that is no zip archive is called that, not a cut-off one") {
  CHECK_THROWS_WITH(nexuml::parse_npz("hello", "x.npz"), Contains("E756") && Contains("no zip archive"));
  CHECK_THROWS_WITH(nexuml::parse_npz("PK\x03\x04", "x.npz"), Contains("cut off"));
}
