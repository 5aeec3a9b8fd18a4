#include "loading/torch_symbols.h"

namespace nexuml {

// What a library imports stands in its file by the name of the library that has it, and the system names what
// is missing.
bool check_torch_symbols(const std::string&, const Where&, Diagnostics&) {
  return true;
}

}  // namespace nexuml
