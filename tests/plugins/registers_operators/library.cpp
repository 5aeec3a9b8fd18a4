// Registers operators with LibTorch the way TORCH_LIBRARY does: by an object that is made when the library is
// opened.
#include <cstdint>
#include <optional>
#include <string>

namespace c10 {
enum class DispatchKey : std::uint16_t {};
}
namespace torch {
struct Library {
  enum Kind { DEF };
  Library(Kind, std::string, std::optional<c10::DispatchKey>, const char*, std::uint32_t);
};
}  // namespace torch
[[maybe_unused]] static torch::Library operators(torch::Library::DEF, "acme", std::nullopt, __FILE__,
                                                 __LINE__);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
