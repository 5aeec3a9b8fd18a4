// Python's own packages read what we write, and write what we read.
//
// Runs where NEXUML_TEST_PYTHON names an interpreter with safetensors and numpy. Its torch, or the one that
// came with the LibTorch of this build (with_torch.py).
#include <ATen/ops/equal.h>
#include <nexuml/pickled_value.h>
#include <nexuml/value.h>

#include <catch2/catch.hpp>

#include "checkpoint/weights.h"
#include "tensor_io/python_counterpart.h"
#include "tensor_io/support.h"

using namespace tensor_io_tests;
using nexuml::test::python_is_there;
using nexuml::test::run_script;

namespace {

void check_equal(const nexuml::TensorMap& found, const nexuml::TensorMap& expected) {
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, tensor] : expected) {
    INFO(name);
    CHECK(found.at(name).scalar_type() == tensor.scalar_type());
    CHECK(at::equal(found.at(name), tensor));
  }
}

}  // namespace

TEST_CASE("state dicts that Python's torch saves now are read, and safetensors of the same tensors agree") {
  if (!python_is_there()) return;
  const TemporaryFolder folder;
  REQUIRE(run_script("write_fresh.py", folder.path()));
  for (const std::string name : {"state", "protocol4", "half", "views", "parameters", "tied"}) {
    INFO(name);
    check_equal(nexuml::read_weights(folder.file(name + ".pt")),
                nexuml::read_weights(folder.file(name + ".safetensors")));
  }
  check_equal(nexuml::read_weights(folder.file("training.pt") + "#model"),
              nexuml::read_weights(folder.file("training_model.safetensors")));
  const nexuml::TensorMap tied = nexuml::read_weights(folder.file("tied.pt"));
  CHECK(nexuml::find_shared(tied).size() == 1);
  check_equal(nexuml::read_weights(folder.file("tied_once.safetensors")), tied);
}

TEST_CASE("torch, safetensors and numpy read what we write") {
  if (!python_is_there()) return;
  const TemporaryFolder folder;
  REQUIRE(run_script("write_fresh.py", folder.path()));
  nexuml::write_pt(folder.file("training.pt"), nexuml::read_pt(folder.file("training.pt")));
  const auto safetensors = nexuml::read_safetensors(data_path("tensor_io/all_dtypes.safetensors"));
  nexuml::write_safetensors(folder.file("all_dtypes.safetensors"), safetensors.tensors, safetensors.metadata);
  for (const std::string name : {"all_dtypes.pt", "views.pt", "two_models.pt"})
    nexuml::write_pt(folder.file(name), nexuml::read_pt(data_path("tensor_io/pt/" + name)));
  nexuml::PickledValue values = nexuml::read_pt(data_path("tensor_io/pt/values.pt"));
  auto& entries = std::get<nexuml::PickledValue::Dict>(values.data).entries;
  std::erase_if(entries, [](const auto& entry) {  // more than 64 bits are not written
    return entry.value.template get_if<nexuml::PickledValue::BigInteger>() != nullptr;
  });
  nexuml::write_pt(folder.file("values.pt"), values);
  nexuml::TensorMap arrays;
  arrays.add("a", at::arange(6).reshape({2, 3}));
  arrays.add("größe", at::ones(3));
  nexuml::write_npz(folder.file("arrays.npz"), arrays);
  CHECK(run_script("check_written.py", folder.path() + " " + data_path("tensor_io")));
}
