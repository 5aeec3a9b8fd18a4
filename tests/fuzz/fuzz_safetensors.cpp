// Any bytes: parse_safetensors neither crashes nor hangs; what it accepts is written and read again
// unchanged.
#include <nexuml/tensor_io.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  nexuml::TensorFile file;
  try {
    file = nexuml::parse_safetensors(bytes, "fuzz.safetensors");
  } catch (const nexuml::Error& error) {
    if (error.diagnostics().empty()) std::abort();
    return 0;
  }
  const std::string written = nexuml::format_safetensors(file.tensors, file.metadata);
  const nexuml::TensorFile again = nexuml::parse_safetensors(written, "again.safetensors");
  if (nexuml::format_safetensors(again.tensors, again.metadata) != written) std::abort();
  return 0;
}
