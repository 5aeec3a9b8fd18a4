// Any bytes: the readers of NPY and NPZ neither crash nor hang. Bytes that begin like a zip archive go to the
// latter.
#include <nexuml/tensor_io.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (bytes.starts_with("PK")) {
      for (const auto& [name, tensor] : nexuml::parse_npz(bytes, "fuzz.npz")) tensor.clone();
    } else if (nexuml::parse_npy(bytes, "fuzz.npy").nbytes() > size) {
      std::abort();
    }
  } catch (const nexuml::Error& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
