#include <nexuml/pickled_value.h>
#include <nexuml/value.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "tensor_io/support.h"

using namespace tensor_io_tests;
using Catch::Matchers::Contains;
using nexuml::describe;
using nexuml::parse_pt;
using nexuml::PickledValue;
using nexuml::read_pt;
using nexuml::state_dict_of;
using nexuml::TensorMap;

namespace {

std::string pt_file(const std::string& name) {
  return data_path("tensor_io/pt/" + name);
}

TensorMap weights_of(const std::string& path, std::string_view key = {}) {
  return state_dict_of(read_pt(path), path, key).tensors;
}

// Numbers of an expected.json, of any depth of lists, in order.
void collect_numbers(const nexuml::Value& value, std::vector<double>& numbers) {
  if (value.is_number()) return numbers.push_back(value.as_number());
  for (const nexuml::Value& item : value.items()) collect_numbers(item, numbers);
}

nexuml::Value expected_of(const std::string& case_name) {
  nexuml::Diagnostics problems;
  const std::string path = data_path("cases/" + case_name + "/expected.json");
  return nexuml::parse_json(file_bytes(path), path, problems);
}

void check_values(const TensorMap& tensors, const nexuml::Value& values) {
  for (const auto& entry : values.entries()) {
    CAPTURE(entry.key);
    std::vector<double> numbers;
    collect_numbers(entry.value, numbers);
    CHECK(values_of<double>(tensors.at(entry.key).to(at::kDouble)) == numbers);
  }
}

}  // namespace

TEST_CASE("state dicts of every pickle protocol give the same tensors in the same order") {
  const nexuml::Value expected = expected_of("L01-ordereddict-state");
  for (const std::string name :
       {"state.pt", "plain_dict.pt", "parameters.pt", "protocol4.pt", "protocol5.pt"}) {
    CAPTURE(name);
    const TensorMap tensors = weights_of(data_path("cases/L01-ordereddict-state/" + name));
    check_values(tensors, expected.at(name).at("values"));
    std::vector<std::string> order;
    for (const nexuml::Value& item : expected.at(name).at("order").items()) order.push_back(item.as_string());
    CHECK(tensors.names() == order);
    CHECK(tensors.at("bn.num_batches_tracked").scalar_type() == at::kLong);
    CHECK(tensors.at("bn.num_batches_tracked").dim() == 0);
    CHECK(tensors.at("table").scalar_type() == at::kInt);
  }
}

TEST_CASE("damaged and foreign .pt files are refused by name, size and kind") {
  const auto reason = [](const std::string& name) {
    return refusal([&] { read_pt(data_path("cases/C01-truncated-pt/" + name)); });
  };
  CHECK(weights_of(data_path("cases/C01-truncated-pt/good.pt")).size() == 32);
  CHECK_THAT(reason("empty.pt"), Contains("empty.pt") && Contains("0 bytes") && Contains("it is empty"));
  CHECK_THAT(reason("html.pt"),
             Contains("html.pt") && Contains("98 bytes") && Contains("looks like HTML, not weights"));
  CHECK_THAT(reason("truncated_half.pt"),
             Contains("truncated_half.pt") && Contains("10,113 bytes") && Contains("cut off"));
  CHECK_THAT(reason("truncated_tail.pt"),
             Contains("truncated_tail.pt") && Contains("20,027 bytes") && Contains("cut off"));
  CHECK_THAT(reason("flipped_byte.pt"),
             Contains("flipped_byte.pt") && Contains("data/0") && Contains("CRC-32"));
}

TEST_CASE("weights are found inside a training checkpoint, and plain values are listed") {
  const std::string path = data_path("cases/L03-nested-and-foreign-objects/nested.pt");
  const PickledValue root = read_pt(path);
  const auto found = state_dict_of(root, path);
  CHECK(found.key == "model");
  check_values(found.tensors, expected_of("L03-nested-and-foreign-objects").at("nested.pt").at("values"));
  CHECK(describe(*root.find("epoch")) == "3");
  CHECK(describe(*root.find("best")) == "0.25");
  CHECK(describe(*root.find("tag")) == "'größe'");
  CHECK(describe(*root.find("note")) == "None");
  CHECK(describe(*root.find("big")) == "1180591620717411303424");
  CHECK(at::equal(state_dict_of(root, path, "model").tensors.at("weight"), found.tensors.at("weight")));
  CHECK_THAT(refusal([&] { state_dict_of(root, path, "modle"); }), Contains("modle") && Contains("model"));
}

TEST_CASE("a Lightning checkpoint gives its state dict, and its wrapper's prefix can be removed") {
  const std::string path = data_path("cases/L03-nested-and-foreign-objects/lightning_like.ckpt");
  const auto found = state_dict_of(read_pt(path), path);
  CHECK(found.key == "state_dict");
  const TensorMap tensors = nexuml::without_prefix(found.tensors, "pipeline.");
  CHECK(tensors.size() == 32);
  CHECK(tensors.contains("stages.Encoder.00_LinearEncoder.model.0.weight"));
  CHECK(nexuml::without_prefix(tensors, "module.").names() == tensors.names());
}

TEST_CASE("a checkpoint with several dicts of tensors asks which one") {
  const std::string path = pt_file("two_models.pt");
  const PickledValue root = read_pt(path);
  CHECK_THAT(refusal([&] { state_dict_of(root, path); }), Contains("E754") && Contains("model, ema"));
  CHECK(at::equal(state_dict_of(root, path, "ema").tensors.at("w"), at::zeros(2)));
  CHECK_THAT(refusal([&] { state_dict_of(read_pt(pt_file("values.pt")), "values.pt"); }),
             Contains("no dict of tensors") && Contains("ratio"));
}

TEST_CASE("objects are skipped by name, calls are refused by name, nothing is executed") {
  const std::string folder = data_path("cases/L03-nested-and-foreign-objects/");
  const PickledValue root = read_pt(folder + "namespace.pt");
  CHECK(describe(*root.find("args")) == "argparse.Namespace (skipped)");
  CHECK(weights_of(folder + "namespace.pt").names() == std::vector<std::string>{"weight", "bias"});
  CHECK_THAT(refusal([&] { read_pt(folder + "os_system.pt"); }),
             Contains("posix.system") && Contains("E757") && Contains("nothing was executed"));
  CHECK_THAT(refusal([&] { read_pt(folder + "whole_module.pt"); }),
             Contains("torch.nn.modules.container.Sequential") && Contains("E758") &&
                 Contains("save model.state_dict()"));
}

TEST_CASE("TorchScript archives and the format before PyTorch 1.6 are refused for what they are") {
  CHECK_THAT(refusal([] { read_pt(data_path("cases/L05-torchscript-file/scripted.pt")); }),
             Contains("TorchScript archive") && Contains("save state_dict()"));
  CHECK_THAT(refusal([] { read_pt(pt_file("legacy.pt")); }),
             Contains("before PyTorch 1.6") && Contains("357 bytes"));
  CHECK_THAT(refusal([] { read_pt(data_path("tensor_io/npy/stored.npz")); }), Contains("without data.pkl"));
  CHECK_THAT(refusal([] { read_pt(data_path("tensor_io/all_dtypes.safetensors")); }),
             Contains("safetensors"));
  CHECK_THAT(refusal([] { parse_pt("\x80\x04]\x94.", "x.pt"); }), Contains("bare Python pickle"));
}

TEST_CASE("tied weights of a .pt file stay one storage") {
  const TensorMap tensors = weights_of(data_path("cases/C05-tied-tensors/tied.pt"));
  CHECK(nexuml::find_shared(tensors) ==
        std::vector<std::vector<std::string>>{{"embed.weight", "head.weight"}});
  tensors.at("embed.weight").add_(1);
  CHECK(at::equal(tensors.at("head.weight"), at::arange(12, at::kFloat).reshape({4, 3}) + 1));
}

TEST_CASE("every dtype of a .pt file is read bit for bit") {
  const TensorMap tensors = weights_of(pt_file("all_dtypes.pt"));
  CHECK(tensors.size() == 20);
  const at::Tensor pattern = at::arange(64, at::kLong).mul(37).remainder(256).to(at::kByte);
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    if (name == "bool") {
      CHECK(at::equal(tensor, pattern.bitwise_and(1).to(at::kBool)));
    } else {
      CHECK(same_bits(tensor.view(at::kByte), pattern));
    }
  }
  CHECK(tensors.at("bfloat16").scalar_type() == at::kBFloat16);
  CHECK(tensors.at("float8_e4m3fn").scalar_type() == at::kFloat8_e4m3fn);
  CHECK(tensors.at("complex128").scalar_type() == at::kComplexDouble);
  CHECK(tensors.at("uint64").scalar_type() == at::kUInt64);
}

TEST_CASE("views of a .pt file keep their values, strides and storage") {
  const TensorMap tensors = weights_of(pt_file("views.pt"));
  const at::Tensor base = at::arange(12, at::kFloat).reshape({4, 3});
  const at::Tensor complex = at::complex(base, base + 1);
  CHECK(at::equal(tensors.at("base"), base));
  CHECK(tensors.at("alias").is_alias_of(tensors.at("base")));
  CHECK(tensors.at("row").is_alias_of(tensors.at("base")));
  CHECK(at::equal(tensors.at("row"), base[1]));
  CHECK(at::equal(tensors.at("transposed"), base.t()));
  CHECK_FALSE(tensors.at("transposed").is_contiguous());
  CHECK(at::equal(tensors.at("expanded"), at::ones(4)));
  CHECK(std::signbit(tensors.at("scalar").item<float>()));
  CHECK(tensors.at("empty").sizes() == at::IntArrayRef({0, 3}));
  CHECK(at::equal(tensors.at("parameter"), base.select(1, 0)));
  CHECK_FALSE(tensors.at("parameter").requires_grad());
  CHECK(at::equal(tensors.at("conjugated"), complex.conj()));
  CHECK(at::equal(tensors.at("negated"), -(base + 1)));
  CHECK(at::equal(tensors.at("tagged"), at::arange(3, at::kFloat)));
}

TEST_CASE("plain Python values of a .pt file are read") {
  const PickledValue root = read_pt(pt_file("values.pt"));
  const auto text = [&](std::string_view key) { return describe(*root.find(key)); };
  CHECK(text("none") == "None");
  CHECK(text("yes") == "True");
  CHECK(text("small") == "-3");
  CHECK(text("large") == "-4611686018427387904");
  CHECK(text("huge") == "1180591620717411303424");
  CHECK(text("minus_huge") == "-1180591620717411303424");
  CHECK(text("ratio") == "0.25");
  CHECK(std::isnan(*root.find("nan")->get_if<double>()));
  CHECK(text("text") == "'größe'");
  CHECK(root.find("bytes")->get_if<PickledValue::Bytes>()->bytes == std::string("\0\xff"
                                                                                "ab",
                                                                                4));
  CHECK(*root.find("complex")->get_if<std::complex<double>>() == std::complex<double>(1, -2));
  CHECK(text("list") == "list of 2");
  CHECK(text("tuple") == "tuple of 4");
  CHECK(text("set") == "set of 1");
  CHECK(text("size") == "tuple of 2");
  CHECK(text("device") == "device 'cuda:1'");
  CHECK(text("dtype") == "torch.bfloat16");
  CHECK(text("ordered") == "dict of 1");
  CHECK(text("counter") == "dict of 2");
}

TEST_CASE("tensors and values are written as .pt and read again") {
  const TemporaryFolder folder;
  for (const std::string name : {"all_dtypes.pt", "views.pt"}) {
    const TensorMap tensors = weights_of(pt_file(name));
    nexuml::write_pt(folder.file("a.pt"), tensors);
    const TensorMap again = weights_of(folder.file("a.pt"));
    CHECK(again.names() == tensors.names());
    for (const auto& [key, tensor] : tensors) {
      CAPTURE(key);
      CHECK(same_bits(again.at(key), tensor));
    }
    CHECK(nexuml::find_shared(again) == nexuml::find_shared(tensors));
  }
  const auto written = nexuml::write_pt(folder.file("b.pt"), read_pt(pt_file("two_models.pt")));
  CHECK(written.sha256 == nexuml::write_pt(folder.file("c.pt"), read_pt(pt_file("two_models.pt"))).sha256);
  CHECK(describe(*read_pt(folder.file("b.pt")).find("optimizer")->find("param_groups")) == "list of 1");
}

TEST_CASE("what a .pt file cannot hold is refused before anything is written") {
  const TemporaryFolder folder;
  const auto reason = [&](PickledValue value) {
    return refusal([&] { nexuml::write_pt(folder.file("a.pt"), value); });
  };
  CHECK_THAT(reason({PickledValue::BigInteger{"18446744073709551616"}}), Contains("18446744073709551616"));
  CHECK_THAT(reason({PickledValue::Opaque{"argparse.Namespace"}}), Contains("argparse.Namespace"));
  CHECK_THAT(reason({at::ones({2, 2}).to_sparse()}), Contains("sparse"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("a .pt file cut at any length is refused") {
  const std::string bytes = file_bytes(pt_file("two_models.pt"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(refusal([&] { parse_pt(std::string_view(bytes).substr(0, length), "x.pt"); }).empty());
  }
}

TEST_CASE("every flipped bit of a .pt file is refused or changes nothing that was read") {
  const std::string bytes = file_bytes(pt_file("two_models.pt"));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    CAPTURE(i);
    refusal([&] {
      const PickledValue root = parse_pt(flipped, "x.pt");
      CHECK(at::equal(state_dict_of(root, "x.pt", "model").tensors.at("w"), at::ones(2)));
      CHECK(at::equal(state_dict_of(root, "x.pt", "ema").tensors.at("w"), at::zeros(2)));
    });
  }
}
