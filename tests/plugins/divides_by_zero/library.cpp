// Divides by zero. The result is stored where the compiler has to put it, so the division stays; 1 / x would be a
// comparison.
static volatile int zero = 0;
[[maybe_unused]] static volatile int quotient = 100 / zero;

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
