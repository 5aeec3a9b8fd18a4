// Says that it was built for this host's LibTorch, and uses functions of another.
namespace c10 {
void function_of_another_version(int);
}
namespace at {
struct Tensor;
Tensor* method_of_another_version(const Tensor&);
}  // namespace at
static const char place = 0;
[[maybe_unused]] static const int used =
    (c10::function_of_another_version(1),
     at::method_of_another_version(reinterpret_cast<const at::Tensor&>(place)), 0);

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
