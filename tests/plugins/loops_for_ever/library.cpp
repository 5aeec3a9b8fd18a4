// Computes for ever in its static initialiser.
static int loop() {
  volatile unsigned count = 0;
  for (;;) count = count + 1;
}
[[maybe_unused]] static const int looped = loop();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
