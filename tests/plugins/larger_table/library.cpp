// Its entry table has fields of a release that is still to come.
#include <nexuml/registration.h>

#include "../one_layer.h"

namespace {

struct LargerTable {
  std::uint32_t struct_size;
  int (*register_components)(const nexuml_host_v1* host);
  void* later[6];
};
static_assert(sizeof(LargerTable) == 64);

int register_components(const nexuml_host_v1* host) {
  static_cast<nexuml::Registration*>(host->registration)->add<OneLayer>("larger_table", "1");
  return 0;
}

}  // namespace

extern "C" NEXUML_EXPORT const void* nexuml_library_entry_v1() {
  static const LargerTable table{sizeof(LargerTable), register_components, {}};
  return &table;
}
