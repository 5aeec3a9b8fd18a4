// Its entry gives no table.
#include <nexuml/registration.h>

extern "C" NEXUML_EXPORT const nexuml_library_v1* nexuml_library_entry_v1() {
  return nullptr;
}
