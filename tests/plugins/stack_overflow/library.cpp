// Calls itself without end.
static int deeper(volatile int* above) {
  volatile int here[4096] = {*above};
  return deeper(here) + here[1];
}
[[maybe_unused]] static const int depth = [] {
  volatile int start = 0;
  return deeper(&start);
}();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
