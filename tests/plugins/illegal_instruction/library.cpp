// Runs into an instruction that does not exist.
[[maybe_unused]] static const int trapped = (__builtin_trap(), 0);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
