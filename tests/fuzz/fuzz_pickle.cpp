// Any bytes: the reader of .pt files neither crashes, hangs nor reads outside a storage. The first byte
// chooses between a whole archive and a bare pickle, which saves the fuzzer from guessing checksums.
#include <nexuml/pickled_value.h>

#include <cstdint>
#include <cstdlib>

#include "tensor_io/pickle_machine.h"

namespace {

void touch(const nexuml::PickledValue& value) {
  if (const auto* tensor = value.get_if<at::Tensor>(); tensor && tensor->numel() < 1'000'000) tensor->clone();
  if (const auto* dict = value.get_if<nexuml::PickledValue::Dict>()) {
    for (const auto& entry : dict->entries) touch(entry.value);
  }
  if (nexuml::describe(value).empty()) std::abort();
}

at::Tensor small_tensor(const nexuml::tensor_io::PickleStorage&,
                        const nexuml::tensor_io::TensorLayout& layout) {
  return at::zeros({1}, at::TensorOptions(layout.dtype));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    touch(data[0] % 2 == 0 ? nexuml::parse_pt(bytes, "fuzz.pt")
                           : nexuml::tensor_io::PickleMachine(bytes, "fuzz.pt", small_tensor).run());
  } catch (const nexuml::Error& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
