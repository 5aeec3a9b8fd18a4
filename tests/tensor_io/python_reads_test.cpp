// Python's own packages read what we write. Runs where NEXUML_TEST_PYTHON names an interpreter with torch,
// safetensors and numpy.
#include <fmt/format.h>
#include <nexuml/pickled_value.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tensor_io/support.h"

using namespace tensor_io_tests;

TEST_CASE("torch, safetensors and numpy read what we write") {
  const char* python = std::getenv("NEXUML_TEST_PYTHON");
  const std::string imports = fmt::format("{} -c 'import torch, safetensors, numpy' 2>/dev/null", python ? python : "");
  if (!python || std::system(imports.c_str()) != 0) {
    WARN("skipped: set NEXUML_TEST_PYTHON to a Python with torch, safetensors and numpy");
    return;
  }
  const TemporaryFolder folder;
  const auto safetensors = nexuml::read_safetensors(data_path("tensor_io/all_dtypes.safetensors"));
  nexuml::write_safetensors(folder.file("all_dtypes.safetensors"), safetensors.tensors, safetensors.metadata);
  for (const char* name : {"all_dtypes.pt", "views.pt", "two_models.pt"}) {
    nexuml::write_pt(folder.file(name), nexuml::read_pt(fmt::format("{}/tensor_io/pt/{}", NEXUML_TEST_DATA, name)));
  }
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
  const std::string command = fmt::format("{} {}/tests/tensor_io/check_written.py {} {}", python,
                                          NEXUML_SOURCE_ROOT, folder.path(), data_path("tensor_io"));
  CHECK(std::system(command.c_str()) == 0);
}
