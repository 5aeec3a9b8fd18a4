// Throws where nobody can catch: in a static initialiser.
#include <stdexcept>

static int fail() {
  throw std::runtime_error("the table of colours is missing");
}
[[maybe_unused]] static const int failed = fail();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
