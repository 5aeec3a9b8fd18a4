// Was linked with a library that is not there any more.
extern "C" int nowhere_function();
[[maybe_unused]] static const int used = nowhere_function();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
