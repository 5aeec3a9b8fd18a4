#include "loading/operators.h"

namespace nexuml {

// This system's host has no process to try it in.
bool registers_operators(const std::string&) {
  return false;
}

bool opens_beside(const DeclaredLibrary&, const std::vector<const DeclaredLibrary*>&, const Environment&,
                  Diagnostics&) {
  return true;
}

}  // namespace nexuml
