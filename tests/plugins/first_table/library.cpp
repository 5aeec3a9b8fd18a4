// Its entry table is the first release's, byte for byte.
#include <nexuml/registration.h>

#include "../one_layer.h"

namespace {

struct FirstTable {
  std::uint32_t struct_size;
  int (*register_components)(const nexuml_host_v1* host);
};

int register_components(const nexuml_host_v1* host) {
  static_cast<nexuml::Registration*>(host->registration)->add<OneLayer>("first_table", "1");
  return 0;
}

}  // namespace

extern "C" NEXUML_EXPORT const void* nexuml_library_entry_v1() {
  static const FirstTable table{16, register_components};
  return &table;
}
