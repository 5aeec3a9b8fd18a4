// Uses a function of another LibTorch.
namespace c10 {
void function_of_another_version(int);
}
[[maybe_unused]] static const int used = (c10::function_of_another_version(1), 0);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
