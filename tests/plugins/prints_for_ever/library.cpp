// Prints without end.
#include <cstdio>

static int print_for_ever() {
  for (;;) std::puts("all work and no play makes a library a dull library");
}
[[maybe_unused]] static const int printed = print_for_ever();

extern "C" __attribute__((visibility("default"))) const void* nexuml_library_entry_v1() {
  return nullptr;
}
