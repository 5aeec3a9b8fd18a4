// Divides by zero.
static volatile int zero = 0;
[[maybe_unused]] static const int quotient = 1 / zero;

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
