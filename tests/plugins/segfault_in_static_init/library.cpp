// Writes to address 8 before anybody asked it for anything.
[[maybe_unused]] static const int crashed = (*reinterpret_cast<volatile int*>(8) = 1);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
